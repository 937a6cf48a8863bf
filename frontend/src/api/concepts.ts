// Concepts in a job's documents: what was measured, what a boundary does to each, and where they stand.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, unwrap, type Schemas } from "./client";
import type { DecisionChoice } from "./documents";
import { isOver, jobKeys } from "./jobs";
import { untilBuilt } from "./waiting";

export type ConceptReport = Schemas["ConceptReportView"];
export type ConceptCounts = Schemas["ConceptCounts"];
export type GroupCounts = Schemas["GroupCounts"];
export type MentionCounts = Omit<GroupCounts, "name">;
export type MeasuredCatalogue = Schemas["ConceptLayerView"];
export type ConcordanceAsked = Pick<Schemas["ConceptConcordanceRequest"], "outcome" | "sort">;
export type PlaceSort = Schemas["ConceptConcordanceRequest"]["sort"];

const POLL_MS = 1_000;
const MOST_DOCUMENTS = 100;

export const conceptKeys = {
  all: ["concepts"],
  measured: ["concepts", "measured"],
};

/** With which versions of the catalogue a job's documents were measured, or are being. */
export const measuredQuery = (job: number) =>
  queryOptions({
    queryKey: [...conceptKeys.measured, job],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/jobs/{job_id}/concepts", { params: { path: { job_id: job } }, signal })),
    refetchInterval: ({ state }) => (state.data?.some(isBeingMeasured) ? POLL_MS : false),
  });

export function isBeingMeasured({ job, is_whole }: MeasuredCatalogue): boolean {
  return !is_whole && job !== null && !isOver(job);
}

/** What measuring a version would take. */
export const planQuery = (job: number, version: number) =>
  queryOptions({
    queryKey: [...conceptKeys.measured, job, "plan", version],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/jobs/{job_id}/concepts/plan", {
          params: { path: { job_id: job }, query: { version } },
          signal,
        }),
      ),
  });

export function useMeasureConcepts(job: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (version: number) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/concepts/measure", { params: { path: { job_id: job } }, body: { version } }),
      ),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: conceptKeys.measured }),
        client.invalidateQueries({ queryKey: jobKeys.lists }),
      ]),
  });
}

export interface ReportAsked {
  job: number;
  version: number;
  choice: DecisionChoice;
}

export const conceptReportQuery = ({ job, version, choice }: ReportAsked) =>
  queryOptions({
    queryKey: [...conceptKeys.all, "report", job, version, choice],
    queryFn: ({ signal }) =>
      // The generator's tuples come out of the client as lists.
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/concepts/report", {
          params: { path: { job_id: job } },
          body: { version, decisions: choice, judgements: 50 },
          signal,
        }),
      ) as Promise<ConceptReport>,
    gcTime: 60_000,
    ...untilBuilt,
  });

export const conceptPlacesQuery = ({ job, version, choice }: ReportAsked, concept: string, asked: ConcordanceAsked) =>
  queryOptions({
    queryKey: [...conceptKeys.all, "places", job, version, choice, concept, asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/{job_id}/concepts/{concept_id}/concordance", {
          params: { path: { job_id: job, concept_id: concept } },
          body: {
            version,
            decisions: choice,
            is_sole: false,
            max_documents: MOST_DOCUMENTS,
            lines_a_document: 3,
            context_chars: 90,
            seed: 0,
            ...asked,
          },
          signal,
        }),
      ),
    gcTime: 60_000,
    ...untilBuilt,
  });
