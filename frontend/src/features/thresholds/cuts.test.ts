import { describe, expect, it } from "vitest";
import type { ProfileContent } from "@/api/documents";
import { compareContents } from "@/api/profile-contents";
import { applyMoves, findStretch, listCuts, placeLine, readMoves, snap, writeMoves } from "./cuts";

const CONTENT: ProfileContent = {
  name: "recommended",
  version: 3,
  description: "",
  form: "normalized",
  lexical: { max_p95_aoa: 12.5, max_oov_ratio: 0.06 },
  fasttext: { min_k5_document: 0.1, min_k5_window: null, top_band: null },
  encoder: null,
  notation: { rules: "recommended", ignore: [] },
  vocabulary: { mode: "block", min_score: 4, max_terms: 1, max_terms_per_1000: null, sampling: null },
  models: {},
  optional: [],
};

describe("the numbers of a profile that can be moved", () => {
  it("are those that it reads", () => {
    expect(listCuts(CONTENT).map(({ path }) => path)).toEqual([
      "lexical.max_p95_aoa",
      "lexical.max_oov_ratio",
      "fasttext.min_k5_document",
      "vocabulary.max_terms",
      "vocabulary.min_score",
    ]);
  });

  it("are moved in a copy, and only where there is a place for them", () => {
    const moved = applyMoves(
      CONTENT,
      new Map([
        ["lexical.max_p95_aoa", 11],
        ["encoder.min_k5_window", 0.5],
      ]),
    );
    expect(moved.lexical).toEqual({ max_p95_aoa: 11, max_oov_ratio: 0.06 });
    expect(moved.encoder).toBeNull();
    expect(CONTENT.lexical?.max_p95_aoa).toBe(12.5);
    expect(compareContents(CONTENT, moved)).toEqual([{ path: "lexical.max_p95_aoa", before: 12.5, after: 11 }]);
  });

  it("go by steps and no further than they may", () => {
    const [age, unknown, , words] = listCuts(CONTENT);
    if (!age || !unknown || !words) throw new Error("missing");
    expect([12.3499, -3, 999].map((value) => snap(age, value))).toEqual([12.3, 0.1, 100]);
    expect(snap(unknown, 0.0612)).toBe(0.06);
    expect(snap(words, 2.6)).toBe(3);
    expect([placeLine(words, 1), placeLine(age, 12.5)]).toEqual([2, 12.5]);
    expect(findStretch(age, [12.5, 11])).toEqual({ low: 4, high: 18 });
    expect(findStretch(age, [20, 3])).toEqual({ low: 3, high: 25 });
    expect(findStretch(unknown, [0.9])).toEqual({ low: 0, high: 1 });
  });

  it("are written into the address and read back, what means nothing passed over", () => {
    const moves = new Map([
      ["lexical.max_oov_ratio", 0.05],
      ["vocabulary.max_terms", 0],
    ]);
    expect(readMoves(writeMoves(moves))).toEqual(moves);
    expect([
      ...readMoves(["lexical.max_oov_ratio:9", "a.b:1", "lexical.max_p95_aoa:", "lexical.max_p95_aoa:x"]),
    ]).toEqual([["lexical.max_oov_ratio", 1]]);
  });

  it("differ also where a stage is missing or a list is another", () => {
    const other: ProfileContent = { ...CONTENT, lexical: null, notation: { rules: "published", ignore: ["powers"] } };
    expect(compareContents(CONTENT, other)).toEqual([
      { path: "lexical.max_p95_aoa", before: 12.5, after: null },
      { path: "lexical.max_oov_ratio", before: 0.06, after: null },
      { path: "notation.rules", before: "recommended", after: "published" },
      { path: "notation.ignore", before: [], after: ["powers"] },
    ]);
  });
});
