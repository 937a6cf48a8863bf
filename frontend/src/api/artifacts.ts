// The models and tables that come with the service, their cards, and reports of how well they do.
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";

export type Artifact = Schemas["ArtifactView"];
export type ArtifactKind = Artifact["kind"];

const ROOT = ["artifacts"];

export const artifactsQuery = queryOptions({
  queryKey: ROOT,
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/artifacts", { signal })),
  staleTime: Infinity,
});

export const cardQuery = (kind: ArtifactKind) =>
  queryOptions({
    queryKey: [...ROOT, "card", kind],
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/artifacts/{kind}/card", { params: { path: { kind } }, signal })),
    staleTime: Infinity,
  });

export const reportQuery = (name: string) =>
  queryOptions({
    queryKey: [...ROOT, "report", name],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/artifacts/reports/{name}", { params: { path: { name } }, signal })),
    staleTime: Infinity,
  });
