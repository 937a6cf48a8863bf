// Whether the service can work: its database, broker and data folder.
import { queryOptions } from "@tanstack/react-query";
import type { Schemas } from "./client";

export const readinessQuery = queryOptions({
  queryKey: ["readiness"],
  // Not through the client: 503 is an answer here, and not silence.
  queryFn: async ({ signal }): Promise<Schemas["Readiness"]> => {
    const answer = await fetch("/readyz", { cache: "no-store", signal });
    return (await answer.json()) as Schemas["Readiness"];
  },
  refetchInterval: 30_000,
  staleTime: 10_000,
});
