import { describe, expect, it } from "vitest";
import type { JobView } from "@/api/jobs";
import type { Ruling } from "@/api/rulings";
import { chooseJobs, mergeRulings } from "./last-rulings";

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
  it("take the job that read most of each source", () => {
    const jobs = [job(4, 2, 10), job(3, 1, 9_000, "running"), job(2, 1, 120), job(1, 1, 254)];
    expect(chooseJobs(jobs, 5).map(({ id }) => id)).toEqual([4, 1]);
    expect(chooseJobs(jobs, 1).map(({ id }) => id)).toEqual([4]);
  });

  it("are the newest of all sources", () => {
    const jobs = [job(4, 2, 10), job(1, 1, 254)];
    const lists = [
      [ruling(2, "2026-03-02T10:00:00Z"), ruling(1, "2026-03-01T10:00:00Z")],
      [ruling(7, "2026-03-01T12:00:00Z")],
    ];
    expect(mergeRulings(jobs, lists, 2).map(({ revision, jobId }) => [revision, jobId])).toEqual([
      [2, 4],
      [7, 1],
    ]);
    expect(mergeRulings(jobs, [], 2)).toEqual([]);
  });
});
