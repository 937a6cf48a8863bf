import { describe, expect, it } from "vitest";
import type { Explanation, StageView } from "@/api/documents";
import { findNearest, layBar } from "./bars";
import { measureDistances } from "./distances";

function explain(stages: StageView[]): Explanation {
  return {
    kept: false,
    decided_by: null,
    excluded_by: [],
    undecided_for: [],
    profile: "p v1",
    form: "raw",
    text: "",
    changes: {},
    stages,
  };
}

const stage = (name: string, values: StageView["values"], thresholds: StageView["thresholds"]): StageView => ({
  stage: name,
  verdict: "pass",
  values,
  thresholds,
  evidence: [],
});

describe("distances of a text that is tried", () => {
  it("are those that the service measures of a document", () => {
    const found = measureDistances(
      explain([
        stage(
          "lexical",
          { p95_aoa: 8.5, oov_ratio: 0.1, token_count: 500 },
          { max_p95_aoa: 12.5, max_oov_ratio: 0.06 },
        ),
        stage(
          "fasttext",
          { document: [0.4, 0.5, 0.1, 0] },
          { top_band: "document", min_k5_document: 0.1, min_k5_window: 0.05 },
        ),
        stage("notation", { rules: [] }, { rules: "recommended", ignore: [] }),
        stage("vocabulary", { terms: { ratio: 5, prime: 4 } }, { max_terms: 1, max_terms_per_1000: 5 }),
      ]),
    );
    expect(
      found.map(({ stage: of, name, margin }) => [of, name, margin === null ? null : Number(margin.toFixed(6))]),
    ).toEqual([
      ["lexical", "p95_aoa", 4],
      ["lexical", "oov_ratio", -0.04],
      ["fasttext", "document_k5", 0.3],
      ["fasttext", "window_k5", null],
      ["fasttext", "document_lead", -0.1],
      ["notation", "rule_count", 0],
      ["vocabulary", "term_count", -1],
      ["vocabulary", "terms_per_1000", 1],
    ]);
    expect(findNearest(found)?.name).toBe("term_count");
  });

  it("are drawn on a scale that holds value and threshold", () => {
    const base = { stage: "lexical", name: "p95_aoa", margin: 0 };
    expect(layBar({ ...base, value: 10, threshold: 8 }, "years")).toEqual({ value: 80, threshold: 64 });
    expect(layBar({ ...base, name: "window_k5", value: 0.25, threshold: 0.5 }, "chance")).toEqual({
      value: 25,
      threshold: 50,
    });
    expect(layBar({ ...base, name: "window_lead", value: -1, threshold: 0 }, "chance")).toEqual({
      value: 0,
      threshold: 50,
    });
    expect(layBar({ ...base, value: 0, threshold: 0 }, "places")).toEqual({ value: 0, threshold: 0 });
    expect(layBar({ ...base, value: null, threshold: 1, margin: null }, "years")).toBeNull();
  });
});
