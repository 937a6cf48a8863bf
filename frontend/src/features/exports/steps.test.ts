import { describe, expect, it } from "vitest";
import { findStep } from "./steps";

const facts = { state: "running", documents_written: 0, job_id: 7, checks: [] } as const;

describe("steps of an export", () => {
  it("go from decisions over files to the check", () => {
    expect(findStep({ ...facts, state: "queued" })).toBe(-1);
    expect(findStep(facts)).toBe(0);
    expect(findStep({ ...facts, documents_written: 1 })).toBe(1);
    expect(findStep({ ...facts, documents_written: 1, checks: [{ job_id: 7 }] })).toBe(2);
  });

  it("know a check of their own from others", () => {
    expect(findStep({ ...facts, documents_written: 1, checks: [{ job_id: 8 }] })).toBe(1);
  });
});
