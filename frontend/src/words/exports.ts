// Exports in plain words: how far one is, and what its files belong to.
import type { ExportFile, ExportView } from "@/api/exports";
import type { JobState } from "@/api/jobs";
import type { StateTerm, Term } from "./terms";

const STATES: Record<JobState, StateTerm> = {
  queued: { label: "Waiting", tone: "neutral", meaning: "No worker has taken it up yet." },
  running: { label: "Being written", tone: "busy", meaning: "A worker writes its files, then checks them." },
  paused: { label: "Paused", tone: "warning", meaning: "Nothing is written until somebody resumes its job." },
  cancelling: { label: "Stopping", tone: "warning", meaning: "The worker lets go of it." },
  cancelled: { label: "Cancelled", tone: "neutral", meaning: "Stopped by a person; there are no files." },
  succeeded: { label: "Ready", tone: "good", meaning: "Its files are written, and are what its manifest says." },
  partly_failed: { label: "Failed", tone: "bad", meaning: "It could not be written. Its page says why." },
  failed: { label: "Failed", tone: "bad", meaning: "It could not be written. Its page says why." },
};

const DELETED: StateTerm = {
  label: "Deleted",
  tone: "neutral",
  meaning: "Its files are gone; what it was can be read.",
};

export function describeExportState({ state, deleted_at }: Pick<ExportView, "state" | "deleted_at">): StateTerm {
  return deleted_at === null ? STATES[state] : DELETED;
}

export const EXPORT_KINDS: Record<ExportView["kind"], Term> = {
  first: { label: "The job's own", meaning: "Written by the job itself when it ended, before any ruling." },
  made: { label: "Made later", meaning: "Asked for by a person, with a profile and rulings of their choice." },
};

export const PARTS: Record<string, Term> = {
  curriculum: { label: "Curriculum", meaning: "What is kept: the text to train on." },
  control: { label: "Control", meaning: "Unfiltered text from the same source, to compare a trained model with." },
};

/** What a file of an export is of: "Curriculum, validation". */
export function describeFile({ config, split }: Pick<ExportFile, "config" | "split">): string {
  if (config === null) return "About the export";
  const part = PARTS[config]?.label ?? config;
  return split === "validation" ? `${part}, validation` : part;
}

/** How many rulings of people had a say. */
export function describeRulings(revision: number | null): string {
  if (revision === null || revision === 0) return "none: the profile alone decides";
  return `all up to number ${revision}`;
}
