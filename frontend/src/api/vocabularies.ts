// Words of a decision set and the versions that rule on them. Questions may hold a draft; only saving changes anything.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";
import type { PageSource } from "./cursor-pages";
import type { DecisionChoice } from "./documents";
import { jobKeys } from "./jobs";
import { untilBuilt } from "./waiting";

export type WordRow = Schemas["WordView"];
export type WordsAsked = Omit<Schemas["TermsRequest"], "decisions" | "cursor" | "limit" | "has_absent">;
export type WordOrder = WordsAsked["sort"];
export type Subject = NonNullable<WordsAsked["subject"]>;
export type RulingFilter = NonNullable<WordsAsked["ruling"]>;
export type WordDetail = Schemas["TermDetail"];
export type Concordance = Schemas["ConcordanceView"];
export type Line = Schemas["LineView"];
export type LinesAsked = Pick<Schemas["ConcordanceRequest"], "outcome" | "domain" | "is_sole" | "sort" | "seed">;
export type Rulings = Required<Schemas["WordRulings"]>;
export type SenseRule = Schemas["SenseRule"];
export type SenseContext = Schemas["SenseContext"];
export type Impact = Schemas["ImpactView"];
export type WordChange = Schemas["WordChangeAnswer"];
export type Vocabulary = Schemas["VocabularyAnswer"];
export type VocabularySummary = Schemas["VocabularySummary"];
export type VocabularyVersion = Schemas["VocabularyDetail"];

const ROWS_A_PAGE = 100;
const MOST = 2_000;
const ROOT = ["vocabularies"];
const WORDS = "/api/v1/jobs/{job_id}/vocabulary";
const VERSIONS = "/api/v1/vocabularies/{name}/versions";

export const EMPTY_RULINGS: Rulings = { allow: [], block: [], senses: [], notes: {} };

/** The pages of a query's words. */
export const wordPages = (job: number, choice: DecisionChoice, asked: WordsAsked): PageSource<WordRow> => ({
  queryKey: [...ROOT, "words", job, choice, asked],
  size: ROWS_A_PAGE,
  fetchPage: (cursor) =>
    unwrap(
      api.POST(`${WORDS}/terms`, {
        params: { path: { job_id: job } },
        body: { decisions: choice, ...asked, has_absent: false, cursor, limit: ROWS_A_PAGE },
      }),
    ),
});

/** What words lose altogether, and what is kept. */
export const lossesQuery = (job: number, choice: DecisionChoice) =>
  queryOptions({
    queryKey: [...ROOT, "losses", job, choice],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${WORDS}/terms`, {
          params: { path: { job_id: job } },
          body: {
            decisions: choice,
            search: "",
            looks_harmless: false,
            has_sole: false,
            has_absent: false,
            sort: "word",
            is_descending: false,
            limit: 1,
          },
          signal,
        }),
      ),
    ...untilBuilt,
  });

export const wordQuery = (job: number, choice: DecisionChoice, word: string) =>
  queryOptions({
    queryKey: [...ROOT, "word", job, choice, word],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${WORDS}/terms/{term}`, {
          params: { path: { job_id: job, term: word } },
          body: { decisions: choice },
          signal,
        }),
      ),
    ...untilBuilt,
  });

export const concordanceQuery = (job: number, choice: DecisionChoice, word: string, asked: LinesAsked) =>
  queryOptions({
    queryKey: [...ROOT, "lines", job, choice, word, asked],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${WORDS}/terms/{term}/concordance`, {
          params: { path: { job_id: job, term: word } },
          body: { decisions: choice, ...asked, max_documents: 200, lines_a_document: 5, context_chars: 80 },
          signal,
        }),
      ),
    gcTime: 60_000,
    ...untilBuilt,
  });

/** What rulings that are not saved yet would change. */
export const impactQuery = (job: number, choice: DecisionChoice, rulings: Rulings, seed: number) =>
  queryOptions({
    queryKey: [...ROOT, "impact", job, choice, rulings, seed],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${WORDS}/impact`, {
          params: { path: { job_id: job } },
          body: { decisions: choice, vocabulary: rulings, seed, examples: 20 },
          signal,
        }),
      ),
    gcTime: 60_000,
    ...untilBuilt,
  });

export type ScoreBand = Schemas["ScoreBandView"];

/** What keeping texts by a chance that falls with their score would keep. */
export const samplingQuery = (job: number, choice: DecisionChoice, halving: number, seed: number) =>
  queryOptions({
    queryKey: [...ROOT, "sampling", job, choice, halving, seed],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${WORDS}/sampling`, {
          params: { path: { job_id: job } },
          body: { decisions: choice, halving, sampling_seed: seed },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    ...untilBuilt,
  });

export const vocabulariesQuery = queryOptions({
  queryKey: [...ROOT, "list"],
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) => unwrap(api.GET("/api/v1/vocabularies", { params: { query: { cursor, limit: 500 } }, signal })),
      MOST,
    );
    return found.items;
  },
});

/** The newest first. */
export const vocabularyVersionsQuery = (name: string) =>
  queryOptions({
    queryKey: [...ROOT, "versions", name],
    queryFn: async ({ signal }) => {
      const found = await readAll(
        (cursor) => unwrap(api.GET(VERSIONS, { params: { path: { name }, query: { cursor, limit: 500 } }, signal })),
        MOST,
      );
      return found.items;
    },
  });

/** One version, which never changes. */
export const vocabularyQuery = (id: number) =>
  queryOptions({
    queryKey: [...ROOT, "one", id],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/vocabularies/ids/{version_id}", { params: { path: { version_id: id } }, signal })),
    staleTime: Infinity,
  });

export const wordChangesQuery = (before: number, after: number) =>
  queryOptions({
    queryKey: [...ROOT, "diff", before, after],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/vocabularies/diff", { params: { query: { before, after } }, signal })),
    staleTime: Infinity,
  });

export function csvAddress(name: string, version: number): string {
  return `/api/v1/vocabularies/${encodeURIComponent(name)}/versions/${version}/csv`;
}

/** The rulings as the service sends them, whole. */
export function readRulings({ content }: Pick<VocabularyVersion, "content">): Rulings {
  return { ...EMPTY_RULINGS, ...content, notes: content.notes ?? {} };
}

export function useReadCsv() {
  return useMutation({
    mutationFn: (csv: string) => unwrap(api.POST("/api/v1/vocabularies/read-csv", { body: { csv } })),
  });
}

export function useSaveVocabulary() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, ...body }: { name: string; based_on: number | null; content: Rulings; note: string }) =>
      unwrap(api.POST(VERSIONS, { params: { path: { name } }, body })),
    onSettled: () => refreshVersions(client),
  });
}

export function useRevertVocabulary(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["RevertRequest"]) =>
      unwrap(api.POST("/api/v1/vocabularies/{name}/revert", { params: { path: { name } }, body })),
    onSettled: () => refreshVersions(client),
  });
}

export function useMeasureSenses(job: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (vocabulary: number) =>
      unwrap(
        api.POST(`${WORDS}/measure-senses`, {
          params: { path: { job_id: job } },
          body: { vocabulary_id: vocabulary },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: jobKeys.all }),
  });
}

function refreshVersions(client: ReturnType<typeof useQueryClient>): Promise<unknown> {
  return Promise.all([
    client.invalidateQueries({ queryKey: [...ROOT, "list"] }),
    client.invalidateQueries({ queryKey: [...ROOT, "versions"] }),
  ]);
}
