import { describe, expect, it } from "vitest";
import type { JobView } from "@/api/jobs";
import type { Ruling } from "@/api/rulings";
import { chooseJob, chooseSources, mergeRulings } from "./last-rulings";

function job(id: number, source: number, documents: number, state: JobView["state"] = "succeeded"): JobView {
  return {
    id,
    kind: "curate",
    state,
    source: { id: source, name: `s${source}` },
    documents_done: documents,
  } as JobView;
}

function ruling(revision: number, at: string): Ruling {
  return { revision, at } as Ruling;
}

describe("last rulings", () => {
  const jobs = [job(4, 2, 10), job(5, 1, 10), job(3, 3, 9_000, "running"), job(2, 1, 120)];

  it("are of the sources whose jobs can be read, once each", () => {
    expect(chooseSources(jobs, 5).map(({ id }) => id)).toEqual([2, 1]);
    expect(chooseSources(jobs, 1).map(({ id }) => id)).toEqual([2]);
  });

  it("lead to the job that read most of a source, the newest of equals", () => {
    expect(chooseJob([job(4, 1, 10), job(2, 1, 120), job(1, 1, 120)])?.id).toBe(2);
    expect(chooseJob([])).toBeUndefined();
  });

  it("are the newest of all sources", () => {
    const sources = chooseSources(jobs, 5);
    const lists = [
      [ruling(2, "2026-03-02T10:00:00Z"), ruling(1, "2026-03-01T10:00:00Z")],
      [ruling(7, "2026-03-01T12:00:00Z")],
    ];
    expect(
      mergeRulings(sources, lists, [[job(4, 2, 10)], []], 2).map(({ revision, jobId }) => [revision, jobId]),
    ).toEqual([
      [2, 4],
      [7, null],
    ]);
    expect(mergeRulings(sources, [], [], 2)).toEqual([]);
  });
});
