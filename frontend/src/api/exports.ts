// Exports: what training reads. Each is made, checked and published by a job of its own.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";
import { isOver, jobKeys } from "./jobs";
import { untilBuilt } from "./waiting";

export type ExportView = Schemas["ExportView"];
export type ExportDetail = Schemas["ExportDetail"];
export type ExportRequest = Schemas["ExportRequest"];
export type ExportChoices = Schemas["ExportChoices"];
export type ExportFile = Schemas["FileView"];
export type ExportCheck = Schemas["CheckView"];
export type ExportPush = Schemas["PushView"];
export type PushRequest = Schemas["PushRequest"];
export type Comparison = Schemas["ComparisonView"];
export type Difference = Schemas["DifferenceView"];

const PAGE = 50;
const MOST_TO_CHOOSE_FROM = 500;
const EXPORT_PATH = "/api/v1/exports/{export_id}";

export const exportKeys = {
  all: ["exports"],
  lists: ["exports", "list"],
  detail: (id: number) => ["exports", "detail", id],
};

/** Whether there are files to read. */
export function hasFiles({ state, deleted_at }: ExportView): boolean {
  return state === "succeeded" && deleted_at === null;
}

/** The job that makes, checks or publishes it now. */
export function findActiveJob(found: ExportDetail): number | undefined {
  if (!isOver(found)) return found.job_id;
  return [...found.checks, ...found.pushes].find((work) => !isOver(work))?.job_id;
}

export const exportsQuery = infiniteQueryOptions({
  queryKey: [...exportKeys.lists, "pages"],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET("/api/v1/exports", { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

/** The newest ones, to choose from. */
export const exportChoicesQuery = queryOptions({
  queryKey: [...exportKeys.lists, "choices"],
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) =>
        unwrap(api.GET("/api/v1/exports", { params: { query: { cursor, limit: MOST_TO_CHOOSE_FROM } }, signal })),
      MOST_TO_CHOOSE_FROM,
    );
    return found.items;
  },
});

export const exportQuery = (id: number) =>
  queryOptions({
    queryKey: exportKeys.detail(id),
    queryFn: ({ signal }) => unwrap(api.GET(EXPORT_PATH, { params: { path: { export_id: id } }, signal })),
  });

/** What `after` has and `before` has not, and the reverse. Finished exports never change. */
export const comparisonQuery = (before: number, after: number) =>
  queryOptions({
    queryKey: ["export-comparisons", before, after],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET(`${EXPORT_PATH}/diff`, { params: { path: { export_id: after }, query: { other: before } }, signal }),
      ),
    staleTime: Infinity,
    ...untilBuilt,
  });

export function fileAddress(id: number, path: string): string {
  return `/api/v1/exports/${id}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Every file with its hash, as `sha256sum -c` reads it. */
export function checksumsAddress(id: number): string {
  return `/api/v1/exports/${id}/archive`;
}

export function useRequestExport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ExportRequest) => unwrap(api.POST("/api/v1/exports", { body })),
    onSuccess: () => refresh(client),
  });
}

export function useVerifyExport(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST(`${EXPORT_PATH}/verify`, { params: { path: { export_id: id } } })),
    onSettled: () => refresh(client),
  });
}

export function usePushExport(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: PushRequest) =>
      unwrap(api.POST(`${EXPORT_PATH}/push`, { params: { path: { export_id: id } }, body })),
    onSettled: () => refresh(client),
  });
}

export function useDeleteExport(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.DELETE(EXPORT_PATH, { params: { path: { export_id: id } } })),
    onSettled: () => refresh(client),
  });
}

function refresh(client: ReturnType<typeof useQueryClient>): Promise<unknown> {
  return Promise.all([
    client.invalidateQueries({ queryKey: exportKeys.all }),
    client.invalidateQueries({ queryKey: jobKeys.lists }),
  ]);
}
