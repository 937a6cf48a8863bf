// Who changed what.
import { infiniteQueryOptions } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";

export type AuditEntry = Schemas["AuditAnswer"];

export interface AuditFilter {
  user?: string;
  action?: string;
  subject?: string;
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET("/api/v1/audit", { params: { query: { ...filter, cursor: pageParam, limit: 100 } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 0,
  });

export function auditCsvAddress(filter: AuditFilter): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
  return `/api/v1/audit.csv${query.size > 0 ? `?${query}` : ""}`;
}
