import { describe, expect, it } from "vitest";
import { readView, writeView, type View } from "./address";

const EVERYTHING: View = {
  search: "vol",
  subject: "earth & space science",
  ruling: "none",
  isHarmless: true,
  isAlone: true,
  order: "word",
  isDescending: false,
  word: "volume",
  isEditing: true,
  versionId: 7,
  places: { outcome: "excluded", isAlone: true, site: "volcanoes.example.org", sort: "right" },
};

describe("the address of the vocabulary", () => {
  it("holds all that is shown", () => {
    expect(readView(new URLSearchParams(writeView(EVERYTHING).toString()))).toEqual(EVERYTHING);
  });

  it("is empty for what is shown by itself", () => {
    expect(writeView(readView(new URLSearchParams())).toString()).toBe("");
    expect(writeView(readView(new URLSearchParams("sort=-sole_documents"))).toString()).toBe("");
  });

  it("passes over what means nothing", () => {
    const written = "sort=-nothing&word=<b>&version=-3&subject=toString&from=lost&by=luck&ruling=perhaps";
    expect(writeView(readView(new URLSearchParams(written))).toString()).toBe("");
  });
});
