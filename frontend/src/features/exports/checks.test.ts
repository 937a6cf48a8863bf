import { describe, expect, it } from "vitest";
import { describeCheck, describeProblem, describeResult } from "./checks";

const asked = {
  state: "queued",
  is_sound: null,
  files_checked: null,
  rows_rechecked: null,
  problem_count: null,
} as const;

describe("a check of an export", () => {
  it("says what it found", () => {
    const found = {
      ...asked,
      state: "succeeded",
      is_sound: true,
      files_checked: 4,
      rows_rechecked: 100,
      problem_count: 0,
    };
    expect(describeCheck({ ...found, state: "succeeded" }).label).toBe("Sound");
    expect(describeResult({ ...found, state: "succeeded" })).toBe(
      "4 files are as the manifest says and can be loaded; 100 documents measured and decided once more came out the same.",
    );
    expect(describeResult({ ...found, state: "succeeded", is_sound: false, problem_count: 1, files_checked: 1 })).toBe(
      "1 thing is wrong in 1 file.",
    );
  });

  it("says that it has not found anything yet", () => {
    expect(describeCheck(asked).label).toBe("Waiting");
    expect(describeCheck({ ...asked, state: "running" }).label).toBe("Being checked");
    expect(describeCheck({ ...asked, state: "failed" }).label).toBe("Failed");
    expect(describeResult({ ...asked, state: "failed" })).toBe("It came to no end: its job says why.");
  });

  it("names the place of what is wrong, where it has one", () => {
    expect(describeProblem({ file: "data/a.parquet", row: 0, what: "other text" })).toBe(
      "data/a.parquet, document 1: other text",
    );
    expect(describeProblem({ file: null, row: null, what: "no manifest" })).toBe("no manifest");
  });
});
