// What is measured, in plain words: numbers with their units, grade bands, readings, distances to thresholds, evidence.
import type { Band, Distance, Reading } from "@/api/documents";
import type { Kind } from "@/components/reading/segments";
import { formatCount } from "./numbers";
import type { Term } from "./terms";

export type Unit = "years" | "share" | "chance" | "tokens" | "bytes" | "characters" | "words" | "places" | "points";

export interface Signal extends Term {
  unit: Unit;
  /** In the query bar and in addresses of pages. */
  word: string;
}

const COUNTED: Record<string, Signal> = {
  tokens: {
    label: "Length",
    unit: "tokens",
    word: "length",
    meaning: "Pieces of words, as language models count text.",
  },
  n_words: { label: "Words", unit: "words", word: "words", meaning: "Words of the text." },
  n_chars: {
    label: "Characters",
    unit: "characters",
    word: "characters",
    meaning: "Letters, digits, signs and spaces.",
  },
  n_bytes: { label: "Size", unit: "bytes", word: "size", meaning: "Bytes of the text as UTF-8." },
  p95_aoa: {
    label: "Oldest age of its hard words",
    unit: "years",
    word: "age",
    meaning: "95 of 100 words are learned by this age.",
  },
  oov_ratio: {
    label: "Unknown words",
    unit: "share",
    word: "unknown-words",
    meaning: "The share of words whose age nobody knows: names, typing errors, foreign or made-up words.",
  },
  lexical_tokens: {
    label: "Words looked up",
    unit: "words",
    word: "looked-up",
    meaning: "Words that were looked for in the table of ages.",
  },
  rule_count: {
    label: "Advanced notation",
    unit: "places",
    word: "notation",
    meaning: "Places with formulas or symbols that are taught after grade 5.",
  },
  term_count: {
    label: "Words beyond grade 5",
    unit: "words",
    word: "beyond",
    meaning: "Different words that school teaches only after grade 5.",
  },
  top_term_score: {
    label: "Highest score of a word",
    unit: "points",
    word: "top-score",
    meaning: "The highest score among the words beyond grade 5: how much more such a word is used later than before.",
  },
};

export const READINGS: Record<Reading, Term> = {
  fasttext_document: {
    label: "Quick grader, whole text",
    meaning: "The grade that the fast model finds likeliest for the whole text.",
  },
  fasttext_window: { label: "Quick grader, hardest passage", meaning: "The same for the passage that looks hardest." },
  fasttext_published: {
    label: "Quick grader, as published",
    meaning: "The same for the text as the published filter cuts it short.",
  },
  encoder_window: {
    label: "Careful grader, hardest passage",
    meaning: "The grade that the slower, more exact model finds likeliest for the passage that looks hardest.",
  },
  encoder_published: {
    label: "Careful grader, as published",
    meaning: "The same for the text as the published filter cuts it short.",
  },
};

export const BANDS: Record<Band, Term> = {
  K5: { label: "Grades K-5", meaning: "Up to the end of grade 5." },
  K8: { label: "Grades 6-8", meaning: "Middle school." },
  K12: { label: "Grades 9-12", meaning: "High school." },
  OOS: { label: "Beyond school", meaning: "Beyond school, or of no use as reading." },
  unreadable: { label: "Nothing to grade", meaning: "The grader found nothing that it could read." },
  not_measured: { label: "Not graded", meaning: "This grader was not asked." },
};

const GRADE = /^(fasttext|encoder)_(published|document|window)_(k5|k8|k12|oos)$/;

export function describeSignal(column: string): Signal {
  const found = COUNTED[column];
  if (found) return found;
  const [, grader, reading, band] = GRADE.exec(column) ?? [];
  if (!grader || !reading || !band)
    return { label: column.replaceAll("_", " "), unit: "places", word: column, meaning: "" };
  const { label } = READINGS[`${grader}_${reading}` as Reading];
  const grades = BANDS[band.toUpperCase() as Band].label;
  const words = { published: "published", document: "text", window: "passage" } as Record<string, string>;
  return {
    label: `How likely ${grades}: ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
    unit: "chance",
    word: `${grader === "fasttext" ? "quick" : "careful"}-${words[reading] ?? ""}${band === "k5" ? "" : `-${grades.toLowerCase().replaceAll(" ", "-")}`}`,
    meaning: "From 0, never, to 1, for certain.",
  };
}

/** The numbers that a table can be cut and sorted by, the ones that decide first. */
export const SIGNALS: readonly string[] = [
  "tokens",
  "p95_aoa",
  "oov_ratio",
  "fasttext_document_k5",
  "fasttext_window_k5",
  "encoder_window_k5",
  "rule_count",
  "term_count",
  "top_term_score",
  "n_words",
  "n_chars",
  "n_bytes",
];

export function formatSignal(unit: Unit, value: number): string {
  switch (unit) {
    case "share":
      return `${Number((100 * value).toFixed(2))} %`;
    case "chance":
      return value > 0 && value < 0.001 ? "< 0.001" : value.toFixed(3).replace(/0+$/, "").replace(/\.$/, "");
    default:
      return `${formatCount(Number(value.toFixed(2)))} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
  }
}

export interface DistanceTerm extends Term {
  unit: Unit;
  isMaximum: boolean;
}

const DISTANCES: Record<string, DistanceTerm> = {
  "lexical.p95_aoa": { ...describeSignal("p95_aoa"), isMaximum: true },
  "lexical.oov_ratio": { ...describeSignal("oov_ratio"), isMaximum: true },
  "fasttext.document_k5": {
    label: "How likely K-5, whole text",
    unit: "chance",
    isMaximum: false,
    meaning: "The quick grader's likelihood that the whole text is for grades K-5, from 0 to 1.",
  },
  "fasttext.window_k5": {
    label: "How likely K-5, hardest passage",
    unit: "chance",
    isMaximum: false,
    meaning: "The quick grader's likelihood that the hardest passage is for grades K-5, from 0 to 1.",
  },
  "encoder.window_k5": {
    label: "How likely K-5, hardest passage",
    unit: "chance",
    isMaximum: false,
    meaning: "The careful grader's likelihood that the hardest passage is for grades K-5, from 0 to 1.",
  },
  "notation.rule_count": { ...describeSignal("rule_count"), isMaximum: true },
  "vocabulary.term_count": { ...describeSignal("term_count"), isMaximum: true },
  "vocabulary.terms_per_1000": {
    label: "Words beyond grade 5, in 1,000",
    unit: "words",
    isMaximum: true,
    meaning:
      "Different words beyond grade 5 in 1,000 words: below the threshold a long text passes whatever the count.",
  },
};

export function describeDistance({ stage, name }: Pick<Distance, "stage" | "name">): DistanceTerm {
  const found = DISTANCES[`${stage}.${name}`];
  if (found) return found;
  if (name.endsWith("_lead")) {
    return {
      label: "Lead of K-5",
      unit: "chance",
      isMaximum: false,
      meaning: "How much likelier grades K-5 are than the next likeliest grades, from -1 to 1.",
    };
  }
  return { label: name.replaceAll("_", " "), unit: "places", isMaximum: false, meaning: "" };
}

export const EVIDENCE: Record<Kind, Term> = {
  hard_word: { label: "Hard words", meaning: "Words that are learned late, the darker the later." },
  unknown_word: { label: "Unknown words", meaning: "Words whose age nobody knows." },
  term: { label: "Beyond grade 5", meaning: "Words that school teaches only after grade 5." },
  notation: { label: "Notation", meaning: "Formulas and symbols that are taught after grade 5." },
  window: { label: "Hardest passage", meaning: "The passage that a grader found least likely to be for grades K-5." },
};

export function describeRule(rule: string): string {
  const words = rule.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
