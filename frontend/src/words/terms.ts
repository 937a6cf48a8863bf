// The service's own names in the words that curators read. docs/wording.md has the same, for people.
import type { JobOptions, JobState, JobView, TaskState, TaskView } from "@/api/jobs";
import type { RuleKind } from "@/api/rules";
import type { Role } from "@/api/roles";
import type { Source } from "@/api/sources";

export type Tone = "neutral" | "busy" | "good" | "warning" | "bad";

export interface Term {
  label: string;
  /** One sentence that a newcomer understands. */
  meaning: string;
}

export interface StateTerm extends Term {
  tone: Tone;
}

export const JOB_STATES: Record<JobState, StateTerm> = {
  queued: { label: "Waiting", tone: "neutral", meaning: "No worker has taken up the job yet." },
  running: { label: "Running", tone: "busy", meaning: "Workers are measuring documents." },
  paused: { label: "Paused", tone: "warning", meaning: "Nothing is measured until somebody resumes the job." },
  cancelling: { label: "Stopping", tone: "warning", meaning: "Workers let go of what they hold." },
  cancelled: { label: "Cancelled", tone: "neutral", meaning: "Stopped by a person; nothing was exported." },
  succeeded: { label: "Done", tone: "good", meaning: "Every document was measured and decided." },
  partly_failed: {
    label: "Partly failed",
    tone: "bad",
    meaning: "Some parts could not be measured; the others are done.",
  },
  failed: { label: "Failed", tone: "bad", meaning: "The job could not be done. Its page says why." },
};

export const TASK_STATES: Record<TaskState, StateTerm> = {
  waiting: { label: "Waiting", tone: "neutral", meaning: "No worker has taken it up yet." },
  running: { label: "Running", tone: "busy", meaning: "A worker has it." },
  done: { label: "Done", tone: "good", meaning: "Finished." },
  failed: { label: "Failed", tone: "bad", meaning: "It says why, and would say so again." },
  quarantined: {
    label: "Set aside",
    tone: "bad",
    meaning: "It stopped its worker so often that it is not tried again by itself.",
  },
  cancelled: { label: "Cancelled", tone: "neutral", meaning: "Stopped with its job." },
};

export const TASK_KINDS: Record<TaskView["kind"], Term> = {
  plan: { label: "Plan", meaning: "List the files of the source." },
  open: { label: "Open a file", meaning: "Count a file's documents and cut it into parts." },
  measure: { label: "Measure", meaning: "Everything that is quick to measure, for one part of a file." },
  encode: { label: "Careful grading", meaning: "The careful grader, for one part of a file." },
  finish: { label: "Finish", meaning: "Decide, export and report." },
  export: { label: "Export", meaning: "Write the files of an export." },
  verify: { label: "Check", meaning: "Compare the files of an export with its manifest." },
  push: { label: "Publish", meaning: "Send the files of an export to a Hub." },
  concepts: {
    label: "Find concepts",
    meaning: "Look for the concepts of a catalogue, a quarter of an hour at a time.",
  },
  probe: { label: "Probe", meaning: "Look for every concept in what is kept." },
  senses: { label: "Tell words apart", meaning: "Read the documents that hold words with several meanings." },
};

export const JOB_KINDS: Record<JobView["kind"], Term> = {
  curate: { label: "Curate", meaning: "Measure a source, decide, export what is kept." },
  measure_undecided: {
    label: "Measure more",
    meaning: "Grade carefully what an earlier job left open.",
  },
  export: { label: "Export", meaning: "Write what an earlier job keeps, as training reads it." },
  verify_export: { label: "Check an export", meaning: "Compare every file of an export with its manifest." },
  push_export: { label: "Publish an export", meaning: "Send an export to a Hub." },
  measure_concepts: {
    label: "Find concepts",
    meaning: "Look for a catalogue's concepts in an earlier job's documents.",
  },
  probe: { label: "Leak probe", meaning: "Look for every concept in what a job keeps, or in an export." },
  measure_senses: {
    label: "Tell words apart",
    meaning: "Read an earlier job's documents that hold words with several meanings.",
  },
};

export const SOURCE_STATES: Record<Source["state"], StateTerm> = {
  registered: { label: "Waiting to be looked at", tone: "neutral", meaning: "A worker will list its files." },
  scanning: { label: "Being looked at", tone: "busy", meaning: "A worker is listing its files." },
  ready: { label: "Ready", tone: "good", meaning: "Its files are known: jobs can be started from it." },
  failed: { label: "Cannot be read", tone: "bad", meaning: "Its page says why." },
};

const STAGES: Record<string, Term> = {
  lexical: {
    label: "Hard or unknown words",
    meaning: "Too many words that are learned late, or that no word list knows.",
  },
  fasttext: { label: "Quick grader", meaning: "A fast model found the text unlikely to be for grades K-5." },
  encoder: {
    label: "Careful grader",
    meaning: "A slower, more exact model found a passage unlikely to be for grades K-5.",
  },
  notation: { label: "Advanced notation", meaning: "Formulas and symbols that are taught after grade 5." },
  vocabulary: { label: "Words beyond grade 5", meaning: "Terms that school teaches only after grade 5." },
  override: { label: "Ruled out by a person", meaning: "A curator excluded the document by hand." },
  source_rule: { label: "Source rule", meaning: "From a site, address or licence whose documents are never kept." },
  error: { label: "Unreadable", meaning: "The row could not be read." },
};

export function describeStage(stage: string): Term {
  return STAGES[stage] ?? { label: stage.replaceAll("_", " "), meaning: "" };
}

export const ROLE_TERMS: Record<Role, Term> = {
  viewer: { label: "Viewer", meaning: "Looks at everything, changes nothing." },
  curator: { label: "Curator", meaning: "Also rules on documents and words." },
  operator: { label: "Operator", meaning: "Also registers sources, writes profiles, runs jobs and exports." },
  admin: { label: "Admin", meaning: "Also manages people, allowed places and the audit log." },
};

export const RULE_KINDS: Record<RuleKind, Term> = {
  domain: { label: "Site", meaning: "Everything from a site and its sub-sites." },
  url_prefix: { label: "Address", meaning: "Everything whose address begins so." },
  licence: { label: "Licence", meaning: "Everything under a licence." },
};

export const CONTROL_MATCHES: Record<JobOptions["control_match"], Term> = {
  tokens: { label: "Same amount of text", meaning: "As many tokens as the curriculum." },
  tokens_length: { label: "Same amount and lengths", meaning: "Also documents of similar lengths." },
  tokens_length_domain: { label: "Same amount, lengths and sites", meaning: "Also from the same sites." },
};

const ACTIONS: Record<string, string> = {
  "user.create": "added a user",
  "user.change": "changed a user",
  "user.password": "set a password",
  "token.create": "made a token",
  "token.revoke": "revoked a token",
  "source.register": "registered a source",
  "source.changed": "noticed that a source's files changed",
  "source.remove": "removed a source",
  "prefix.allow": "allowed a place",
  "prefix.remove": "no longer allows a place",
  "source_rule.add": "added a source rule",
  "source_rule.retire": "retired a source rule",
  "profile.import": "brought in a profile",
  "profile.draft": "drafted a profile",
  "profile.change": "changed a draft",
  "profile.publish": "published a profile",
  "profile.discard": "discarded a draft",
  "job.start": "started a job",
  "job.import": "brought in a finished run",
  "job.pause": "paused a job",
  "job.resume": "resumed a job",
  "job.cancel": "cancelled a job",
  "job.retry": "retried failed parts of a job",
  "export.request": "asked for an export",
  "export.verify": "asked for a check of an export",
  "export.push": "published an export",
  "export.delete": "deleted the files of an export",
};

export function describeAction(action: string): string {
  return ACTIONS[action] ?? action.replaceAll(".", ": ").replaceAll("_", " ");
}

/** What an entry of the audit log is about: "place 3" for prefix/3. */
export function describeSubject(subject: string): string {
  return subject
    .replace(/^prefix\//, "place/")
    .replace("/", " ")
    .replaceAll("-", " ");
}
