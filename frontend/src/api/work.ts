// Which workers live, what each does, and what waits.
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";

export type Work = Schemas["WorkView"];
export type Worker = Schemas["WorkerView"];
export type HeldTask = Schemas["HeldTaskView"];
export type QueueState = Schemas["QueueView"];
export type QueueName = QueueState["name"];

export const workQuery = queryOptions({
  queryKey: ["work"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/work", { signal })),
  refetchInterval: 5_000,
  staleTime: 2_000,
});
