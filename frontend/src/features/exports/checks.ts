// What a check of an export found, in words.
import type { ExportCheck } from "@/api/exports";
import { plural } from "@/words/numbers";
import { JOB_STATES, type StateTerm } from "@/words/terms";

const SOUND: StateTerm = { label: "Sound", tone: "good", meaning: "The export is what its manifest says." };
const DAMAGED: StateTerm = { label: "Not sound", tone: "bad", meaning: "Do not train on it: see what is wrong." };
const CHECKING: StateTerm = { label: "Being checked", tone: "busy", meaning: "A worker reads every file." };

type Result = Pick<ExportCheck, "state" | "is_sound" | "files_checked" | "rows_rechecked" | "problem_count">;

export function describeCheck({ is_sound, state }: Pick<Result, "is_sound" | "state">): StateTerm {
  if (is_sound !== null) return is_sound ? SOUND : DAMAGED;
  return state === "running" ? CHECKING : JOB_STATES[state];
}

export function describeResult({ is_sound, state, files_checked, rows_rechecked, problem_count }: Result): string {
  if (is_sound === null) {
    if (state === "queued") return "It begins when a worker is free.";
    if (state === "running") return "Every file is being read.";
    return "It came to no end: its job says why.";
  }
  const files = plural(files_checked ?? 0, "file");
  if (!is_sound) return `${plural(problem_count ?? 0, "thing is", "things are")} wrong in ${files}.`;
  const rows = plural(rows_rechecked ?? 0, "document");
  return `${files} ${files_checked === 1 ? "is" : "are"} as the manifest says and can be loaded; ${rows} measured and decided once more came out the same.`;
}

/** One thing that is wrong, as the service says it. */
export function describeProblem({ file, row, what }: Record<string, unknown>): string {
  const place = [
    typeof file === "string" && file ? file : "",
    typeof row === "number" ? `document ${row + 1}` : "",
  ].filter(Boolean);
  return `${place.length > 0 ? `${place.join(", ")}: ` : ""}${String(what)}`;
}
