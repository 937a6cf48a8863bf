import { describe, expect, it } from "vitest";
import {
  estimateDocuments,
  estimateRate,
  estimateSeconds,
  estimateTokens,
  roundRoughly,
  type PastJob,
} from "./estimate";

function past(documents: number, seconds: number, hasEncoder = true): PastJob {
  return {
    documents_done: documents,
    started_at: "2026-03-01T12:00:00Z",
    finished_at: new Date(Date.parse("2026-03-01T12:00:00Z") + 1_000 * seconds).toISOString(),
    options: { has_encoder: hasEncoder },
  };
}

describe("estimates", () => {
  it("reads no more than the source has and the limit allows", () => {
    const plan = { rowCount: 1_000, limit: null, share: null };
    expect(estimateDocuments(plan)).toBe(1_000);
    expect(estimateDocuments({ ...plan, share: 0.01 })).toBe(10);
    expect(estimateDocuments({ ...plan, limit: 5_000 })).toBe(1_000);
    expect(estimateDocuments({ ...plan, limit: 50, share: 0.5 })).toBe(50);
    expect(estimateDocuments({ ...plan, rowCount: null })).toBeNull();
    expect(estimateDocuments({ ...plan, rowCount: null, limit: 7 })).toBe(7);
  });

  it("takes the middle of jobs that worked the same way", () => {
    expect(estimateRate([past(100, 10), past(900, 10), past(300, 10), past(90_000, 1, false)], true)).toBe(30);
    expect(estimateRate([past(100, 10, false)], true)).toBeNull();
    expect(estimateRate([past(0, 10), past(10, 0)], true)).toBeNull();
  });

  it("scales a trial to the share, and falls back on earlier jobs for the time", () => {
    const found = { documents: 1_000, tokens_kept: 5_001, seconds: 90 };
    expect(estimateTokens(found, null)).toBe(5_001);
    expect(estimateTokens(found, 0.1)).toBe(500);
    expect([27_730, 999, 0].map(roundRoughly)).toEqual([27_700, 999, 0]);
    expect(estimateTokens({ ...found, tokens_kept: null }, 0.1)).toBeNull();
    expect(estimateSeconds(found, 100, [], { sample_share: 0.1, has_encoder: true })).toBe(9);
    const silent = { ...found, seconds: null };
    expect(estimateSeconds(silent, 600, [past(300, 10)], { has_encoder: true })).toBe(20);
    expect(estimateSeconds(silent, 600, [past(300, 10)], { has_encoder: false })).toBeNull();
    expect(estimateSeconds(silent, null, [past(300, 10)], { has_encoder: true })).toBeNull();
  });
});
