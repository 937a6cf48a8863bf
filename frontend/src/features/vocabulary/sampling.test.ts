import { describe, expect, it } from "vitest";
import type { ProfileContent } from "@/api/documents";
import { applySampling, findChance, findSampling, readHalving, readSampling, readSeed } from "./sampling";

const CONTENT = {
  name: "p",
  version: 1,
  form: "normalized",
  vocabulary: { mode: "block", min_score: 4, max_terms: 0 },
} as unknown as ProfileContent;

describe("sampling by score", () => {
  it("halves the chance from one step to the next", () => {
    expect([4, 5, 6, 8].map((score) => findChance(score, 4, 1))).toEqual([1, 0.5, 0.25, 0.0625]);
    expect(findChance(6, 4, 2)).toBe(0.5);
    expect(findChance(3, 4, 1)).toBe(1);
  });

  it("is asked by numbers alone", () => {
    expect(["1", "0.5", "", "x", "0", "-1", "101"].map(readHalving)).toEqual([1, 0.5, null, null, null, null, null]);
    expect(["0", "7", "", "1.5", "-1", "2147483648"].map(readSeed)).toEqual([0, 7, null, null, null, null]);
    expect(readSampling(new URLSearchParams("halving=2&seed=x"), { halving: 1, seed: 5 })).toEqual({
      halving: 2,
      seed: 5,
    });
  });

  it("is what the profile says, and becomes a part of it", () => {
    expect(findSampling(CONTENT)).toEqual({ halving: 1, seed: 0 });
    const sampled = applySampling(CONTENT, { halving: 2, seed: 9 });
    expect(sampled.vocabulary).toEqual({
      mode: "sample",
      min_score: 4,
      max_terms: 0,
      sampling: { halving: 2, seed: 9 },
    });
    expect(findSampling(sampled)).toEqual({ halving: 2, seed: 9 });
    expect(applySampling({ ...CONTENT, vocabulary: null }, { halving: 2, seed: 9 }).vocabulary).toBeNull();
  });
});
