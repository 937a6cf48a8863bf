import { expect, test } from "vitest";
import type { Concept } from "@/api/catalogues";
import type { ConceptReport } from "@/api/concepts";
import { filterConcepts, findMainCause, listConcepts, listGroups, sortRows } from "./rows";

const EMPTY: Omit<Concept, "id" | "name" | "subject" | "band"> = {
  standard: null,
  basis: "",
  terms: [],
  verbs: [],
  exact: [],
  senses: [],
  innocent: [],
  not_near: [],
  within: 8,
  k5_neighbour: "",
};
const RATIO: Concept = {
  ...EMPTY,
  id: "ratio",
  name: "ratio",
  subject: "math",
  band: "K8",
  standard: "6.RP.A.1",
  terms: ["ratio"],
};
const CELL: Concept = {
  ...EMPTY,
  id: "cells",
  name: "cells as units of life",
  subject: "life science",
  band: "K8",
  senses: [{ terms: ["cell"], near: ["Membrane"], within: 8 }],
  innocent: ["prison cell"],
};
const NEW: Concept = { ...EMPTY, id: "plates", name: "plate tectonics", subject: "earth & space science", band: "K8" };

function count(documents: number, kept: number, excluded_by: Record<string, number> = {}) {
  return {
    documents,
    hits: documents,
    tokens: 100 * documents,
    kept,
    kept_tokens: 0,
    kept_share: 0,
    kept_interval: [0, 0] as [number, number],
    excluded: documents - kept,
    excluded_tokens: 0,
    undecided: 0,
    excluded_by,
    sole_cause: {},
  };
}

const REPORT = {
  concepts: [
    { concept: "ratio", name: "ratio", subject: "math", band: "K8", standard: "6.RP.A.1", ...count(4, 1) },
    {
      concept: "cells",
      name: "cells as units of life",
      subject: "life science",
      band: "K8",
      standard: null,
      ...count(9, 0),
    },
  ],
  subjects: [
    { name: "math", ...count(4, 1) },
    { name: "life science", ...count(9, 0) },
  ],
  bands: [{ name: "K8", ...count(12, 1) }],
  standards: [
    { name: "6.RP.A.1", ...count(4, 1) },
    { name: "", ...count(9, 0) },
  ],
} as unknown as ConceptReport;

const CONCEPTS = new Map([RATIO, CELL, NEW].map((concept) => [concept.id, concept]));
const ANY = { search: "", subject: null, band: null, standard: null };
const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);

test("what the report does not know is listed without numbers", () => {
  const rows = listConcepts(REPORT, CONCEPTS);
  expect(ids(rows)).toEqual(["ratio", "cells", "plates"]);
  expect(rows.map(({ counts }) => counts?.documents ?? null)).toEqual([4, 9, null]);
  expect(ids(listConcepts(null, CONCEPTS))).toEqual(["ratio", "cells", "plates"]);
});

test("concepts are found by their words, subject and standard", () => {
  const rows = listConcepts(REPORT, CONCEPTS);
  expect(ids(filterConcepts(rows, { ...ANY, search: " MEMBRANE " }))).toEqual(["cells"]);
  expect(ids(filterConcepts(rows, { ...ANY, search: "6.rp" }))).toEqual(["ratio"]);
  expect(ids(filterConcepts(rows, { ...ANY, standard: "" }))).toEqual(["cells", "plates"]);
  expect(ids(filterConcepts(rows, { ...ANY, subject: "math", band: "K12" }))).toEqual([]);
});

test("groups have the names that people know", () => {
  expect(listGroups(REPORT, "subject", "").map(({ name }) => name)).toEqual(["Math", "Life science"]);
  expect(listGroups(REPORT, "band", "").map(({ name }) => name)).toEqual(["grades 6-8"]);
  expect(listGroups(REPORT, "standard", "").map(({ name }) => name)).toEqual(["6.RP.A.1", "no standard"]);
  expect(ids(listGroups(REPORT, "standard", "6.r"))).toEqual(["6.RP.A.1"]);
});

test("what was not measured comes last, whatever the order", () => {
  const rows = listConcepts(REPORT, CONCEPTS);
  expect(ids(sortRows(rows, { column: "documents", isDescending: true }))).toEqual(["cells", "ratio", "plates"]);
  expect(ids(sortRows(rows, { column: "documents", isDescending: false }))).toEqual(["ratio", "cells", "plates"]);
  expect(ids(sortRows(rows, { column: "name", isDescending: false }))).toEqual(["cells", "plates", "ratio"]);
});

test("the main cause is the stage that excludes most", () => {
  expect(findMainCause(count(3, 0, { notation: 1, vocabulary: 3 }))).toEqual(["vocabulary", 3]);
  expect(findMainCause(count(3, 3, { notation: 0 }))).toBeUndefined();
});
