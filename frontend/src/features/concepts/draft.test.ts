import { expect, test } from "vitest";
import type { Concept, Edit } from "@/api/catalogues";
import { findOverlap, isInEdit, leaveOut, moveTo, putConcept, removeConcept } from "./draft";

const RATIO: Concept = {
  id: "ratio",
  name: "ratio",
  subject: "math",
  band: "K8",
  standard: "6.RP.A.1",
  basis: "",
  terms: ["ratio"],
  verbs: [],
  exact: [],
  senses: [],
  innocent: [],
  not_near: [],
  within: 8,
  k5_neighbour: "",
};
const CHANGED = { ...RATIO, terms: ["ratio", "proportion"] };

test("an edit holds a concept once, as it was put last", () => {
  const first = putConcept(null, 3, RATIO, CHANGED);
  expect(first).toEqual({ based_on: 3, put: [CHANGED], remove: [], csv: null });
  const again = { ...CHANGED, name: "ratios" };
  expect(putConcept(first, 4, RATIO, again)).toEqual({ based_on: 3, put: [again], remove: [], csv: null });
});

test("a concept that is as it was is no edit", () => {
  expect(putConcept(putConcept(null, 3, RATIO, CHANGED), 3, RATIO, { ...RATIO })).toBeNull();
});

test("removing takes the place of changing, and leaving out takes back either", () => {
  const removed = removeConcept(putConcept(null, 3, RATIO, CHANGED), 3, "ratio", true);
  expect(removed).toEqual({ based_on: 3, put: [], remove: ["ratio"], csv: null });
  expect(isInEdit(removed, "ratio")).toBe(true);
  expect(leaveOut(removed as Edit, "ratio")).toBeNull();
  expect(removeConcept(putConcept(null, 3, undefined, CHANGED), 3, "ratio", false)).toBeNull();
});

test("an edit goes on from a newer version, and tells what both touch", () => {
  const edit: Edit = { based_on: 3, put: [CHANGED], remove: ["mean", "gone"], csv: null };
  expect(findOverlap(edit, [{ id: "ratio" }, { id: "slope" }])).toEqual(["ratio"]);
  const newer = new Map([
    ["ratio", RATIO],
    ["mean", { ...RATIO, id: "mean" }],
  ]);
  expect(moveTo(edit, 4, newer)).toEqual({ based_on: 4, put: [CHANGED], remove: ["mean"], csv: null });
  expect(moveTo({ based_on: 3, put: [], remove: ["gone"], csv: null }, 4, newer)).toBeNull();
});
