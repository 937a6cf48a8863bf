// A probe in plain words: what it is of, how far it is, what it found.
import { formatLeakShare } from "@/words/concepts";
import { JOB_STATES, type StateTerm } from "@/words/terms";
import type { Probe } from "@/api/probes";

const READING: StateTerm = { label: "Reading", tone: "busy", meaning: "A worker reads every document." };
const DONE: StateTerm = { label: "Done", tone: "good", meaning: "Every document was read." };
const WITHIN: StateTerm = {
  label: "Within the limit",
  tone: "good",
  meaning: "The share is not above what was asked.",
};
const ABOVE: StateTerm = { label: "Above the limit", tone: "bad", meaning: "The share is above what was asked." };

export function describeProbe({
  state,
  is_above,
  max_share,
}: Pick<Probe, "state" | "is_above" | "max_share">): StateTerm {
  if (state === "running") return READING;
  if (state !== "succeeded") return JOB_STATES[state];
  if (max_share === null) return DONE;
  return is_above ? ABOVE : WITHIN;
}

export function nameProbed({ export_id, base_job_id }: Pick<Probe, "export_id" | "base_job_id">): string {
  return export_id === null ? `what job ${base_job_id} keeps` : `export ${export_id}`;
}

/** The answer in one sentence. */
export function sayLimit({
  share,
  max_share,
  is_above,
}: Pick<Probe, "share" | "max_share" | "is_above">): string | null {
  if (share === null || max_share === null) return null;
  const limit = formatLeakShare(max_share);
  return is_above
    ? `${formatLeakShare(share)} is above the ${limit} that was asked for.`
    : `${formatLeakShare(share)} is within the ${limit} that was asked for.`;
}
