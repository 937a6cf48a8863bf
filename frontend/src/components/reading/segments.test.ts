import { describe, expect, it } from "vitest";
import type { Explanation } from "@/api/documents";
import { cutSegments, listSpans, slicePieces, type Span } from "./segments";

function span(id: number, start: number, end: number, kind: Span["kind"] = "term"): Span {
  return { id, stage: "vocabulary", kind, name: `name ${id}`, start, end, value: null };
}

const shape = (spans: readonly Span[]) =>
  cutSegments(spans).map(({ start, end, spans: on }) => [start, end, on.map(({ id }) => id)]);

describe("places of evidence", () => {
  it("are cut where they overlap, and each segment says all that is said of it", () => {
    expect(shape([span(0, 0, 10, "window"), span(1, 2, 5), span(2, 4, 8), span(3, 4, 5)])).toEqual([
      [0, 2, [0]],
      [2, 4, [0, 1]],
      [4, 5, [0, 1, 2, 3]],
      [5, 8, [0, 2]],
      [8, 10, [0]],
    ]);
  });

  it("leave the text between them alone, and may touch or be the same", () => {
    expect(shape([span(0, 1, 3), span(1, 3, 4), span(2, 7, 9), span(3, 7, 9)])).toEqual([
      [1, 3, [0]],
      [3, 4, [1]],
      [7, 9, [2, 3]],
    ]);
    expect(cutSegments([])).toEqual([]);
  });

  it("fill any stretch of the text without gap or overlap", () => {
    const segments = cutSegments([span(0, 2, 4), span(1, 6, 20)]);
    const pieces = (from: number, to: number) =>
      slicePieces(segments, from, to).map(({ start, end, spans }) => [start, end, spans.length]);
    expect(pieces(0, 10)).toEqual([
      [0, 2, 0],
      [2, 4, 1],
      [4, 6, 0],
      [6, 10, 1],
    ]);
    expect(pieces(3, 7)).toEqual([
      [3, 4, 1],
      [4, 6, 0],
      [6, 7, 1],
    ]);
    expect(pieces(20, 25)).toEqual([[20, 25, 0]]);
    expect(pieces(10, 10)).toEqual([]);
  });

  it("stand at the characters that the service means, in texts with emoji", () => {
    const text = "😀😀 hard 𝒳² word";
    const place = (kind: string, name: string, start: number, end: number) => ({ kind, name, start, end, value: 9 });
    const explanation: Explanation = {
      kept: false,
      decided_by: "notation",
      excluded_by: ["notation"],
      undecided_for: [],
      profile: "p v1",
      form: "raw",
      text,
      changes: {},
      stages: [
        {
          stage: "lexical",
          verdict: "pass",
          values: {},
          thresholds: {},
          evidence: [place("hard_word", "hard", 3, 7), place("later", "?", 0, 1)],
        },
        {
          stage: "notation",
          verdict: "fail",
          values: {},
          thresholds: {},
          evidence: [place("notation", "power", 8, 10), place("notation", "empty", 4, 4)],
        },
      ],
    };
    const spans = listSpans(explanation);
    expect(spans.map(({ start, end }) => text.slice(start, end))).toEqual(["hard", "𝒳²"]);
  });
});
