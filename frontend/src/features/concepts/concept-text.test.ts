import { expect, test } from "vitest";
import type { Concept } from "@/api/catalogues";
import { EMPTY_FIELDS, makeId, readFields, writeFields } from "./concept-text";

const CELL: Concept = {
  id: "cells",
  name: "cells as units of life",
  subject: "life science",
  band: "K8",
  standard: "MS-LS1-1",
  basis: "",
  terms: ["living cell"],
  verbs: ["photosynthesize"],
  exact: ["DNA"],
  senses: [{ terms: ["cell"], near: ["nucleus", "membrane"], within: 6 }],
  innocent: ["cell phone", "prison cell"],
  not_near: ["sheriff"],
  within: 8,
  k5_neighbour: "plants and animals have parts (4-LS1-1)",
};

test("a concept comes out of its fields as it went in", () => {
  expect(readFields(writeFields(CELL), "cells")).toEqual({ concept: CELL });
});

test("words are said once, one a line, without what stands around them", () => {
  const fields = { ...EMPTY_FIELDS, name: " slope ", standard: "8.EE.B.5", terms: " slope\n\nslope \nrate of change" };
  expect(readFields(fields, "slope")).toEqual({
    concept: expect.objectContaining({
      name: "slope",
      terms: ["slope", "rate of change"],
      standard: "8.EE.B.5",
    }) as Concept,
  });
});

test("what is missing is said", () => {
  const named = { ...EMPTY_FIELDS, name: "slope" };
  expect(readFields(EMPTY_FIELDS, "")).toEqual({ problem: "Give it a name." });
  expect(readFields(named, "slope")).toEqual({ problem: "Give at least one word: nothing could show it." });
  expect(readFields({ ...named, terms: "slope" }, "slope")).toEqual({
    problem: "Give its standard, or say what puts it after grade 5.",
  });
  const half = { ...named, basis: "algebra", senses: [{ terms: "cell", near: "", within: "8" }] };
  expect("problem" in readFields(half, "slope")).toBe(true);
  expect("problem" in readFields({ ...named, terms: "slope", basis: "algebra", within: "0" }, "slope")).toBe(true);
});

test("a new concept's id is its name, once", () => {
  const taken = new Set(["plate-tectonics", "plate-tectonics-2"]);
  expect(makeId("Plate  Tectonics!", () => false)).toBe("plate-tectonics");
  expect(makeId("Plate tectonics", (id) => taken.has(id))).toBe("plate-tectonics-3");
  expect(makeId("Café au lait", () => false)).toBe("cafe-au-lait");
  expect(makeId("¿?", () => false)).toBe("");
});
