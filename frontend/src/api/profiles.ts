// Profiles and their versions. A draft is changed only by who has seen what it holds: its ETag goes along.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, unwrapTagged, type Schemas } from "./client";

export type Profile = Schemas["ProfileAnswer"];
export type VersionSummary = Schemas["VersionSummary"];
export type Version = Schemas["VersionAnswer"];
export type Difference = Schemas["DifferenceAnswer"];

const MOST = 2_000;
const VERSION_PATH = "/api/v1/profiles/{name}/versions/{version}";

export const profileKeys = {
  all: ["profiles"],
  version: (name: string, version: number) => ["profiles", "version", name, version],
};

export const profilesQuery = queryOptions({
  queryKey: [...profileKeys.all, "list"],
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) => unwrap(api.GET("/api/v1/profiles", { params: { query: { cursor, limit: 500 } }, signal })),
      MOST,
    );
    return found.items;
  },
});

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: [...profileKeys.all, "versions", name],
    queryFn: async ({ signal }) => {
      const found = await readAll(
        (cursor) =>
          unwrap(
            api.GET("/api/v1/profiles/{name}/versions", {
              params: { path: { name }, query: { cursor, limit: 500 } },
              signal,
            }),
          ),
        MOST,
      );
      return found.items.reverse();
    },
  });

export const versionQuery = (name: string, version: number) =>
  queryOptions({
    queryKey: profileKeys.version(name, version),
    queryFn: ({ signal }) => unwrapTagged(api.GET(VERSION_PATH, { params: { path: { name, version } }, signal })),
  });

export const yamlQuery = (name: string, version: number, etag: string) =>
  queryOptions({
    queryKey: [...profileKeys.all, "yaml", name, version, etag],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET(`${VERSION_PATH}/yaml`, { params: { path: { name, version } }, parseAs: "text", signal }),
      ) as Promise<string>,
  });

export const differencesQuery = (before: number, after: number) =>
  queryOptions({
    queryKey: [...profileKeys.all, "diff", before, after],
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/profiles/diff", { params: { query: { before, after } }, signal })),
  });

export function useCreateDraft() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["DraftCreate"]) => unwrap(api.POST("/api/v1/profiles", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: profileKeys.all }),
  });
}

export function useSaveDraft(name: string, version: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ etag, ...body }: Schemas["DraftChange"] & { etag: string }) =>
      unwrapTagged(api.PUT(VERSION_PATH, { params: { path: { name, version }, header: { "if-match": etag } }, body })),
    onSuccess: (saved) => {
      client.setQueryData(profileKeys.version(name, version), saved);
      return client.invalidateQueries({
        queryKey: profileKeys.all,
        predicate: ({ queryKey }) => queryKey[1] !== "version",
      });
    },
  });
}

export function usePublishDraft(name: string, version: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (etag: string) =>
      unwrapTagged(
        api.POST(`${VERSION_PATH}/publish`, { params: { path: { name, version }, header: { "if-match": etag } } }),
      ),
    onSuccess: (published) => {
      client.setQueryData(profileKeys.version(name, version), published);
      return client.invalidateQueries({ queryKey: profileKeys.all });
    },
  });
}

export function useDiscardDraft(name: string, version: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE(VERSION_PATH, { params: { path: { name, version } } })),
    onSuccess: () => {
      client.removeQueries({ queryKey: profileKeys.version(name, version) });
      return client.invalidateQueries({ queryKey: profileKeys.all });
    },
  });
}
