import { describe, expect, it } from "vitest";
import { createUnitFinder } from "./code-points";

describe("offsets in characters as offsets in units", () => {
  it("are the same where every character is one unit", () => {
    const find = createUnitFinder("naïve 中文");
    expect([0, 3, 8].map(find)).toEqual([0, 3, 8]);
  });

  it("grow by one for every character of two units before them", () => {
    const text = "a😀b𝒞c";
    const find = createUnitFinder(text);
    expect([0, 1, 2, 3, 4, 5].map(find)).toEqual([0, 1, 3, 4, 6, 7]);
    expect([...text].map((character, place) => text.slice(find(place), find(place + 1)) === character)).toEqual(
      Array(5).fill(true),
    );
  });

  it("count what is put together of many characters as the service does", () => {
    const family = "👩‍👩‍👧 x"; // three pictures and two joiners, then a space
    expect(family.slice(createUnitFinder(family)(6))).toBe("x");
  });

  it("never lie beyond the text", () => {
    expect(createUnitFinder("😀")(9)).toBe(2);
    expect(createUnitFinder("a")(9)).toBe(1);
    expect(createUnitFinder("")(0)).toBe(0);
  });
});
