// Versions of the catalogue of concepts: what they hold, how they differ, what an edit would change, and saving one.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";
import { untilBuilt } from "./waiting";

export type Concept = Schemas["Concept"];
export type Subject = Concept["subject"];
export type ConceptBand = Concept["band"];
export type Sense = Schemas["Sense"];
export type CatalogueVersion = Schemas["CatalogueVersionView"];
export type CatalogueDiff = Schemas["CatalogueDiffView"];
export type ConceptChange = Schemas["ConceptChange"];
export type CatalogueImpact = Schemas["CatalogueImpactView"];
export type RunImpact = Schemas["CatalogueRunImpact"];

const PAGE = 50;
const CONCEPTS_AT_ONCE = 500;
const MOST_CONCEPTS = 4_000;
const PATH = "/api/v1/concepts/versions";

// The service tells of a new version as of a catalogue.
const ROOT = ["catalogues"];

export const versionsQuery = infiniteQueryOptions({
  queryKey: [...ROOT, "versions"],
  queryFn: ({ pageParam, signal }) =>
    unwrap(api.GET(PATH, { params: { query: { cursor: pageParam, limit: PAGE } }, signal })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next ?? undefined,
});

export const newestVersionQuery = queryOptions({
  queryKey: [...ROOT, "newest"],
  queryFn: async ({ signal }) => {
    const page = await unwrap(api.GET(PATH, { params: { query: { limit: 1 } }, signal }));
    return page.items[0] ?? null;
  },
});

/** What a version holds never changes. */
export const conceptsQuery = (version: number) =>
  queryOptions({
    queryKey: ["catalogue-concepts", version],
    queryFn: async ({ signal }) => {
      const found = await readAll(
        (cursor) =>
          unwrap(
            api.GET(`${PATH}/{version}/concepts`, {
              params: { path: { version }, query: { cursor, limit: CONCEPTS_AT_ONCE } },
              signal,
            }),
          ),
        MOST_CONCEPTS,
      );
      return new Map(found.items.map((concept) => [concept.id, concept]));
    },
    staleTime: Infinity,
  });

export const catalogueDiffQuery = (before: number, after: number) =>
  queryOptions({
    queryKey: ["catalogue-diffs", before, after],
    queryFn: ({ signal }) => unwrap(api.GET(`${PATH}/diff`, { params: { query: { before, after } }, signal })),
    staleTime: Infinity,
  });

export function csvAddress(version: number): string {
  return `${PATH}/${version}/csv`;
}

export function yamlAddress(version: number): string {
  return `${PATH}/${version}/yaml`;
}

/** Concepts to put in the place of those of their ids, and ids to remove; or a whole catalogue as CSV. */
export interface Edit {
  based_on: number;
  put: Concept[];
  remove: string[];
  csv: string | null;
}

function asBody({ based_on, put, remove, csv }: Edit) {
  return csv === null ? { based_on, put, remove } : { based_on, put: [], remove: [], csv };
}

const SAMPLE = 200;

/** What an edit would change; in a job's run too where one is named. Documents of the run are drawn and read for it. */
export const impactQuery = (edit: Edit, job: number | null) =>
  queryOptions({
    queryKey: ["catalogue-impact", edit, job],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST(`${PATH}/impact`, {
          body: { ...asBody(edit), job_id: job, decisions: {}, sample: SAMPLE, seed: 0 },
          signal,
        }),
      ),
    gcTime: 60_000,
    ...untilBuilt,
  });

export function useSaveCatalogue() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ edit, note }: { edit: Edit; note: string }) =>
      unwrap(api.POST(PATH, { body: { ...asBody(edit), note } })),
    // Refused because somebody else saved: what they saved is to be seen.
    onSettled: () => client.invalidateQueries({ queryKey: ROOT }),
  });
}

export function useRevertCatalogue() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["CatalogueRevertRequest"]) => unwrap(api.POST(`${PATH}/revert`, { body })),
    onSettled: () => client.invalidateQueries({ queryKey: ROOT }),
  });
}
