import { describe, expect, it } from "vitest";
import { estimateDocuments, estimateRate, type PastJob } from "./estimate";

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
    const plan = { rowCount: 1_000, limit: null, share: null, hasEncoder: true };
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
});
