// Rulings of people on documents of a source: one, undone, and their history.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";
import { refreshDecisions } from "./documents";

export type Ruling = Schemas["RulingAnswer"];
export type Ruled = Schemas["RuledAnswer"];
export type Verb = Ruling["action"];

export interface Place {
  source: number;
  shard_sha256: string;
  row: number;
}

const MOST_OF_ONE = 50;

/** What was ruled on one document, the newest first. */
export const rulingsOfQuery = ({ source, shard_sha256, row }: Place) =>
  queryOptions({
    queryKey: ["rulings", "of", source, shard_sha256, row],
    queryFn: async ({ signal }) => {
      const query = { shard_sha256, row, limit: MOST_OF_ONE };
      const page = await unwrap(
        api.GET("/api/v1/sources/{source_id}/rulings", { params: { path: { source_id: source }, query }, signal }),
      );
      return page.items;
    },
    gcTime: 60_000,
  });

export interface RulingAsked extends Place {
  action: Verb;
  reason: string;
}

export function useRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ source, action, ...asked }: RulingAsked): Promise<Ruled> => {
      const params = { path: { source_id: source } };
      return action === "undo"
        ? unwrap(api.POST("/api/v1/sources/{source_id}/rulings/undo", { params, body: asked }))
        : unwrap(api.POST("/api/v1/sources/{source_id}/rulings", { params, body: { ...asked, action } }));
    },
    onSuccess: () => refreshDecisions(client),
  });
}

/** What was ruled last on documents of a source, the newest first. */
export const lastRulingsQuery = (source: number, most: number) =>
  queryOptions({
    queryKey: ["rulings", "last", source, most],
    queryFn: async ({ signal }) => {
      const page = await unwrap(
        api.GET("/api/v1/sources/{source_id}/rulings", {
          params: { path: { source_id: source }, query: { limit: most } },
          signal,
        }),
      );
      return page.items;
    },
  });
