// Sources, their files and first rows.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";

export type Source = Schemas["SourceAnswer"];
export type Shard = Schemas["ShardAnswer"];
export type Preview = Schemas["PreviewAnswer"];

const MOST_SOURCES = 2_000;
const SCAN_POLL_MS = 1_000;

export const sourceKeys = {
  all: ["sources"],
  list: ["sources", "list"],
  detail: (id: number) => ["sources", "detail", id],
  shards: (id: number) => ["sources", "shards", id],
  preview: (id: number) => ["sources", "preview", id],
};

export function isBeingScanned(source: Source): boolean {
  return source.state === "registered" || source.state === "scanning";
}

export const sourcesQuery = queryOptions({
  queryKey: sourceKeys.list,
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) => unwrap(api.GET("/api/v1/sources", { params: { query: { cursor, limit: 500 } }, signal })),
      MOST_SOURCES,
    );
    return found.items;
  },
  // Scans tell of no events.
  refetchInterval: ({ state }) => (state.data?.some(isBeingScanned) ? SCAN_POLL_MS : false),
});

export const sourceQuery = (id: number) =>
  queryOptions({
    queryKey: sourceKeys.detail(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/sources/{source_id}", { params: { path: { source_id: id } }, signal })),
    refetchInterval: ({ state }) => (state.data && isBeingScanned(state.data) ? SCAN_POLL_MS : false),
  });

export const shardsQuery = (id: number) =>
  infiniteQueryOptions({
    queryKey: sourceKeys.shards(id),
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/v1/sources/{source_id}/shards", {
          params: { path: { source_id: id }, query: { cursor: pageParam, limit: 200 } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });

export const previewQuery = (id: number) =>
  queryOptions({
    queryKey: sourceKeys.preview(id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/sources/{source_id}/preview", {
          params: { path: { source_id: id }, query: { rows: 5 } },
          signal,
        }),
      ),
    staleTime: Infinity,
    retry: false,
  });

export function useRegisterSource() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["SourceCreate"]) => unwrap(api.POST("/api/v1/sources", { body })),
    onSuccess: (source) => {
      client.setQueryData(sourceKeys.detail(source.id), source);
      return client.invalidateQueries({ queryKey: sourceKeys.list });
    },
  });
}

export function useScanSource(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/sources/{source_id}/scan", { params: { path: { source_id: id } } })),
    onSuccess: (source) => client.setQueryData(sourceKeys.detail(id), source),
    onSettled: () => client.invalidateQueries({ queryKey: sourceKeys.all }),
  });
}

export function useRemoveSource(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE("/api/v1/sources/{source_id}", { params: { path: { source_id: id } } })),
    onSuccess: () => {
      client.removeQueries({ queryKey: sourceKeys.detail(id) });
      return client.invalidateQueries({ queryKey: sourceKeys.list });
    },
  });
}
