// Source rules: domains, addresses and licences whose documents are never kept.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";

export type Rule = Schemas["RuleAnswer"];
export type RuleKind = Rule["kind"];

const MOST_RULES = 5_000;
const KEY = ["source-rules"];

/** `sourceId` undefined: all rules, retired ones too; else those that bind the source now. */
export const rulesQuery = (sourceId?: number) =>
  queryOptions({
    queryKey: [...KEY, sourceId ?? "all"],
    queryFn: async ({ signal }) => {
      const query = sourceId === undefined ? { has_retired: true } : { source_id: sourceId };
      const found = await readAll(
        (cursor) =>
          unwrap(api.GET("/api/v1/source-rules", { params: { query: { ...query, cursor, limit: 500 } }, signal })),
        MOST_RULES,
      );
      return found.items;
    },
  });

export function useAddRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["RuleCreate"]) => unwrap(api.POST("/api/v1/source-rules", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useRetireRule() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.POST("/api/v1/source-rules/{rule_id}/retire", { params: { path: { rule_id: id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
