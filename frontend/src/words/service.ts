// What the workbench calls the parts of the service: its queues, its models and what is written of them.
import type { ArtifactKind } from "@/api/artifacts";
import type { QueueName } from "@/api/work";
import type { Term } from "./terms";

export const QUEUES: Record<QueueName, Term> = {
  measure: { label: "Measuring", meaning: "Everything that is quick to measure, a part of a file at a time." },
  encoder: { label: "Careful grading", meaning: "The careful grader, which takes most of a job's time." },
  export: { label: "Exports", meaning: "Deciding, writing, checking and publishing exports." },
  maintenance: { label: "Upkeep", meaning: "Planning jobs and looking through sources." },
};

export const ARTIFACTS: Record<ArtifactKind, Term> = {
  aoa: { label: "Ages of words", meaning: "At what age people learn each of some 50,000 English words." },
  vocabulary: { label: "Words beyond grade 5", meaning: "How far beyond grade 5 each word stands." },
  fasttext: { label: "Quick grader", meaning: "A small model that reads words and tells grade bands apart, fast." },
  encoder: { label: "Careful grader", meaning: "A larger model that reads whole passages: slower and more exact." },
};

export const REPORTS: Record<string, Term> = {
  evaluation: { label: "How well the models grade", meaning: "Scores on texts that no model was trained on." },
  purity: {
    label: "How pure what is kept is",
    meaning: "What two independent readers said of the texts that were kept.",
  },
};
