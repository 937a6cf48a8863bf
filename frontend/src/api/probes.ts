// Probes: every concept of the catalogue looked for in what a job keeps, or in an export.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";
import { isOver, jobKeys } from "./jobs";

export type Probe = Schemas["ProbeView"];
export type ProbeDetail = Schemas["ProbeDetail"];
export type ProbeRequest = Schemas["ProbeRequest"];
export type Leak = Schemas["LeakView"];

const PAGE = 50;
const POLL_MS = 1_500;

export const probeKeys = { all: ["probes"] };

export const probesQuery = infiniteQueryOptions({
  queryKey: [...probeKeys.all, "list"],
  queryFn: ({ pageParam, signal }) =>
    // The generator's tuples come out of the client as lists.
    unwrap(api.GET("/api/v1/probes", { params: { query: { cursor: pageParam, limit: PAGE } }, signal })) as Promise<
      Schemas["Page_ProbeView_"]
    >,
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

/** The newest probes of one export. */
export const exportProbesQuery = (exportId: number) =>
  queryOptions({
    queryKey: [...probeKeys.all, "export", exportId],
    queryFn: async ({ signal }) => {
      const query = { export_id: exportId, limit: PAGE };
      const page = await unwrap(api.GET("/api/v1/probes", { params: { query }, signal }));
      return page.items as Probe[];
    },
  });

export const probeQuery = (id: number) =>
  queryOptions({
    queryKey: [...probeKeys.all, "detail", id],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/probes/{probe_id}", { params: { path: { probe_id: id } }, signal }),
      ) as Promise<ProbeDetail>,
    refetchInterval: ({ state }) => (state.data && !isOver(state.data) ? POLL_MS : false),
  });

export function useRequestProbe() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ProbeRequest) => unwrap(api.POST("/api/v1/probes", { body })),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: probeKeys.all }),
        client.invalidateQueries({ queryKey: jobKeys.lists }),
      ]),
  });
}
