import { describe, expect, it } from "vitest";
import { EMPTY_RULINGS, type Rulings } from "@/api/vocabularies";
import { addEdit, applyEdits, findEdit, findEdits, nameRuling, readEdit, readWords, type Edit } from "./edits";

const LOUD = { words: ["loud", "music"], left: 8, right: 8 };
const BASE: Rulings = {
  allow: ["yeast"],
  block: ["volume"],
  senses: [{ term: "volume", note: "loudness", innocent_if: [LOUD], counts_if: [] }],
  notes: { yeast: "baking" },
};
const ALLOWED: Edit = { word: "volume", ruling: "allow", innocentIf: [], countsIf: [], note: " a box " };

describe("edits", () => {
  it("say everything about their word and nothing about others", () => {
    expect(applyEdits(BASE, addEdit({}, BASE, ALLOWED))).toEqual({
      allow: ["yeast", "volume"],
      block: [],
      senses: [],
      notes: { yeast: "baking", volume: "a box" },
    });
    expect(applyEdits(BASE, {})).toEqual(BASE);
  });

  it("take a word's ruling away", () => {
    const edits = addEdit({}, BASE, { ...ALLOWED, ruling: null });
    expect(applyEdits(BASE, edits)).toEqual({ ...BASE, block: [], senses: [] });
    expect(edits.volume?.note).toBe("");
  });

  it("tell a word apart by sense, with the note at the rule", () => {
    const edit: Edit = { word: "cell", ruling: null, innocentIf: [LOUD], countsIf: [], note: "a room" };
    expect(nameRuling(edit)).toBe("sense");
    const made = applyEdits(EMPTY_RULINGS, addEdit({}, EMPTY_RULINGS, edit));
    expect(made).toEqual({
      ...EMPTY_RULINGS,
      senses: [{ term: "cell", note: "a room", innocent_if: [LOUD], counts_if: [] }],
    });
    expect(readEdit(made, "cell")).toEqual(edit);
  });

  it("are none where they say what is said already", () => {
    const first = addEdit({}, BASE, ALLOWED);
    expect(addEdit(first, BASE, readEdit(BASE, "volume"))).toEqual({});
    expect(
      addEdit({}, BASE, { ...readEdit(BASE, "volume"), innocentIf: [{ ...LOUD, words: ["music", "loud"] }] }),
    ).toEqual({});
  });

  it("lead from any version to any other", () => {
    const wanted: Rulings = { ...EMPTY_RULINGS, allow: ["volume", "atom"], notes: { atom: "toys" } };
    const edits = findEdits(BASE, wanted);
    expect(Object.keys(edits).sort()).toEqual(["atom", "volume", "yeast"]);
    const made = applyEdits(BASE, edits);
    expect({ ...made, allow: made.allow.sort() }).toEqual({ ...wanted, allow: ["atom", "volume"] });
    expect(findEdits(wanted, wanted)).toEqual({});
  });

  it("know nothing of words that happen to be names in the language", () => {
    expect(readEdit(BASE, "constructor")).toEqual({
      word: "constructor",
      ruling: null,
      innocentIf: [],
      countsIf: [],
      note: "",
    });
    expect(findEdit({}, "constructor")).toBeUndefined();
  });

  it("read words between commas and spaces", () => {
    expect(readWords("Loud, sound;music\nx naïve loud")).toEqual({
      words: ["loud", "music", "sound"],
      wrong: ["naïve", "x"],
    });
  });
});
