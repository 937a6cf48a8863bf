// What happens to an export one after the other.
import type { ExportDetail } from "@/api/exports";

export const STEPS = ["Decide every document", "Write the files", "Check them and load them back"] as const;

/** The step that is being done; -1 before the first. */
export function findStep({ state, documents_written, checks, job_id }: StepFacts): number {
  if (state === "queued") return -1;
  if (checks.some((check) => check.job_id === job_id)) return 2;
  return documents_written > 0 ? 1 : 0;
}

type StepFacts = Pick<ExportDetail, "state" | "documents_written" | "job_id"> & {
  checks: readonly { job_id: number }[];
};
