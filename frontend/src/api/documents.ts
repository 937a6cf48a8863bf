// Documents of a finished job: pages, counts, one document, and rulings on all that a query names.
import { queryOptions, useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";
import type { PageSource } from "./cursor-pages";
import { ProblemError } from "./problem";
import { untilBuilt } from "./waiting";

export type DocumentQuery = Partial<Schemas["Query"]>;
export type Range = Schemas["Range"];
export type Reading = Schemas["BandCondition"]["reading"];
export type Band = Schemas["BandCondition"]["band"];
export type Sort = Partial<Schemas["Sort"]>;
export type DecisionChoice = Schemas["DecisionChoice"];
export type ProfileContent = Schemas["Profile"];
export type DocumentRow = Schemas["DocumentRow"];
export type DocumentPage = Schemas["DocumentPage"];
export type DocumentView = Schemas["DocumentView"];
export type Explanation = Schemas["ExplanationView"];
export type StageView = Schemas["StageView"];
export type Evidence = Schemas["EvidenceView"];
export type Distance = Schemas["DistanceView"];
export type Facets = Schemas["FacetView"];
export type Decision = Schemas["DecisionView"];

const ROWS_A_PAGE = 100;

const ROOT = ["documents"];

export const documentKeys = {
  all: ROOT,
  pages: (job: number) => [...ROOT, "pages", job],
  counts: [...ROOT, "counts"],
  ones: [...ROOT, "one"],
};

/** The parts of a query that say nothing are left out, so that the same question has one form. */
export function tidyQuery(query: DocumentQuery): DocumentQuery {
  const said = Object.entries(query).filter(
    ([, value]) =>
      value !== null && value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  // `false` is an answer in these two, and silence elsewhere.
  if (query.has_error === false) said.push(["has_error", false]);
  if (query.has_source_rule === false) said.push(["has_source_rule", false]);
  return Object.fromEntries(said);
}

/** A query as the service takes it. */
function asBody(query: DocumentQuery): Schemas["Query"] {
  return { bands: [], ranges: [], has_subdomains: false, ...tidyQuery(query) };
}

export interface PagesRequest {
  job: number;
  choice: DecisionChoice;
  query: DocumentQuery;
  sort: Sort;
}

/** The pages of a query's documents. */
export const documentPages = ({ job, choice, query, sort }: PagesRequest): PageSource<DocumentRow> => ({
  queryKey: [...documentKeys.pages(job), choice, tidyQuery(query), sort],
  size: ROWS_A_PAGE,
  fetchPage: (cursor) =>
    unwrap(
      api.POST("/api/v1/jobs/{job_id}/documents/search", {
        params: { path: { job_id: job } },
        body: {
          decisions: choice,
          query: asBody(query),
          sort: { column: sort.column ?? null, is_descending: sort.is_descending ?? false },
          cursor,
          limit: ROWS_A_PAGE,
          columns: sort.column && sort.column !== "tokens" ? [sort.column] : [],
        },
      }),
    ),
});

export const facetsQuery = (job: number, choice: DecisionChoice, query: DocumentQuery) =>
  queryOptions({
    queryKey: [...documentKeys.counts, job, choice, tidyQuery(query)],
    queryFn: ({ signal }) =>
      // The generator's tuples come out of the client as lists.
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/documents/facets", {
          params: { path: { job_id: job } },
          body: { decisions: choice, query: asBody(query) },
          signal,
        }),
      ) as Promise<Facets>,
    gcTime: 60_000,
    ...untilBuilt,
  });

/** One document as a decision set sees it, a draft included. */
export const documentQuery = (job: number, position: number, choice: DecisionChoice) =>
  queryOptions({
    queryKey: [...documentKeys.ones, job, position, choice],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/documents/{position}/read", {
          params: { path: { job_id: job, position } },
          body: choice,
          signal,
        }),
      ),
    gcTime: 60_000, // texts may be large
    ...untilBuilt,
  });

/** Where a row of a shard stands in a job's run: null when the job did not read it. */
export const placeQuery = (job: number, shard_sha256: string, row: number) =>
  queryOptions({
    queryKey: [...documentKeys.all, "place", job, shard_sha256, row],
    queryFn: async ({ signal }) => {
      const params = { path: { job_id: job }, query: { shard_sha256, row } };
      try {
        return await unwrap(api.GET("/api/v1/jobs/{job_id}/documents/find", { params, signal }));
      } catch (error) {
        if (error instanceof ProblemError && error.status === 404) return null;
        throw error;
      }
    },
    staleTime: Infinity, // a run that has ended keeps its rows
    ...untilBuilt,
  });

export type BulkAsked = Omit<Schemas["BulkRulingRequest"], "query" | "is_preview" | "expected_documents"> & {
  query: DocumentQuery;
};

/** What a ruling on all documents of a query would change. */
export const bulkPreviewQuery = (job: number, asked: BulkAsked) =>
  queryOptions({
    queryKey: [...documentKeys.counts, "bulk", job, asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/documents/rulings", {
          params: { path: { job_id: job } },
          body: { ...asked, query: asBody(asked.query), is_preview: true },
          signal,
        }),
      ),
    staleTime: 0,
    gcTime: 0,
    ...untilBuilt,
  });

export function useRuleInBulk(job: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ expected, ...asked }: BulkAsked & { expected: number }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/documents/rulings", {
          params: { path: { job_id: job } },
          body: { ...asked, query: asBody(asked.query), is_preview: false, expected_documents: expected },
        }),
      ),
    onSuccess: () => refreshDecisions(client),
  });
}

/** Everything that rulings may have changed, tables excepted, is asked for anew. */
export function refreshDecisions(client: QueryClient): Promise<unknown> {
  return Promise.all([
    client.invalidateQueries({ queryKey: documentKeys.counts }),
    client.invalidateQueries({ queryKey: documentKeys.ones }),
    client.invalidateQueries({ queryKey: ["rulings"] }),
  ]);
}

/** Shows another decision of a document in the pages that hold it; its place in them stays. */
export function patchRow(client: QueryClient, job: number, position: number, decision: Decision): void {
  client.setQueriesData<DocumentPage>({ queryKey: documentKeys.pages(job) }, (page) => {
    if (!page?.items.some((row) => row.position === position)) return page;
    return { ...page, items: page.items.map((row) => (row.position === position ? { ...row, ...decision } : row)) };
  });
}
