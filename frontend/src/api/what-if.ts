// What another boundary would keep: counts over every document, the documents that change sides, a signal's values.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap, unwrapTagged, type Schemas } from "./client";
import type { PageSource } from "./cursor-pages";
import type { DecisionChoice, DocumentRow, ProfileContent } from "./documents";
import { jobKeys, type Funnel } from "./jobs";
import { profileKeys } from "./profiles";
import { untilBuilt } from "./waiting";

export type WhatIf = Schemas["WhatIfView"];
export type Move = Schemas["FlipRequest"]["move"];
export type Histogram = Schemas["HistogramView"];

export function readCounts(funnel: WhatIf["funnel"]): Funnel {
  return funnel as unknown as Funnel;
}

const ROOT = ["what-if"];
const FLIPS_A_PAGE = 100;

export interface Comparison {
  job: number;
  baseline: DecisionChoice;
  other: DecisionChoice;
}

export const whatIfQuery = ({ job, baseline, other }: Comparison) =>
  queryOptions({
    queryKey: [...ROOT, "counts", job, baseline, other],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/what-if", {
          params: { path: { job_id: job } },
          body: { baseline, other },
          signal,
        }),
      ),
    gcTime: 30_000,
    ...untilBuilt,
  });

/** The documents of one move, as `other` decides them. */
export const flipPages = ({ job, baseline, other }: Comparison, move: Move): PageSource<DocumentRow> => ({
  queryKey: [...ROOT, "flips", job, baseline, other, move],
  size: FLIPS_A_PAGE,
  fetchPage: (cursor) =>
    unwrap(
      api.POST("/api/v1/jobs/{job_id}/what-if/flips", {
        params: { path: { job_id: job } },
        body: { baseline, other, move, cursor, limit: FLIPS_A_PAGE },
      }),
    ),
});

export interface Drawing {
  job: number;
  choice: DecisionChoice;
  column: string;
  bins: number;
  /** Undefined: from the least value on. */
  low?: number;
  high?: number;
}

export const histogramQuery = ({ job, choice, ...asked }: Drawing) =>
  queryOptions({
    queryKey: [...ROOT, "histogram", job, choice, asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/documents/histogram", {
          params: { path: { job_id: job } },
          body: { decisions: choice, query: { bands: [], ranges: [], has_subdomains: false }, ...asked },
          signal,
        }),
      ),
    gcTime: 30_000,
    ...untilBuilt,
  });

export function useMeasureUndecided(job: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (profileId: number) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/measure-undecided", {
          params: { path: { job_id: job } },
          body: { profile_id: profileId },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: jobKeys.lists }),
  });
}

/** Saves thresholds as the next version of a name and publishes it, so that jobs can use it. */
export function useSaveVersion() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ name, content, note }: { name: string; content: ProfileContent; note: string }) => {
      const body = { name, note, content: { ...content } };
      const draft = await unwrapTagged(api.POST("/api/v1/profiles", { body }));
      const path = { name, version: draft.data.version };
      const params = { path, header: { "if-match": draft.etag } };
      return unwrap(api.POST("/api/v1/profiles/{name}/versions/{version}/publish", { params }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: profileKeys.all }),
  });
}
