// What a profile asks, in plain words: every place of its content with a name, a unit and a meaning.
import type { Term } from "./terms";

export interface Threshold extends Term {
  unit: string;
}

/** By place in the profile's content, such as `lexical.max_p95_aoa`. */
export const THRESHOLDS: Record<string, Threshold> = {
  description: { label: "Description", unit: "", meaning: "What the profile is for." },
  form: {
    label: "Text that is read",
    unit: "",
    meaning: "As the source has it, or tidied: markup, odd spaces and look-alike letters put right.",
  },
  "lexical.max_p95_aoa": {
    label: "Oldest age of its hard words",
    unit: "years",
    meaning: "95 of 100 words must be learned by this age. Words that are learned later make a text harder.",
  },
  "lexical.max_oov_ratio": {
    label: "Most unknown words",
    unit: "share of words",
    meaning: "Words whose age nobody knows: names, typing errors, foreign or made-up words.",
  },
  "fasttext.top_band": {
    label: "Grades K-5 must be likeliest",
    unit: "",
    meaning: "Whether, for the quick grader, K-5 must be the likeliest of all grade bands.",
  },
  "fasttext.min_k5_document": {
    label: "How likely K-5, whole text",
    unit: "0 to 1",
    meaning: "The quick grader's least likelihood that the whole text is for grades K-5.",
  },
  "fasttext.min_k5_window": {
    label: "How likely K-5, hardest passage",
    unit: "0 to 1",
    meaning: "The same, for the passage of the text that looks hardest.",
  },
  "encoder.top_band": {
    label: "Grades K-5 must be likeliest",
    unit: "",
    meaning: "Whether, for the careful grader, K-5 must be the likeliest of all grade bands.",
  },
  "encoder.min_k5_window": {
    label: "How likely K-5, hardest passage",
    unit: "0 to 1",
    meaning: "The careful grader's least likelihood that the hardest passage is for grades K-5.",
  },
  "notation.rules": { label: "Set of rules", unit: "", meaning: "Which formulas and symbols count as beyond grade 5." },
  "notation.ignore": { label: "Rules left out", unit: "", meaning: "Rules of the set that do not count." },
  "vocabulary.mode": {
    label: "What happens to a text",
    unit: "",
    meaning: "Excluded for certain, or kept by a chance that falls with every point of score.",
  },
  "vocabulary.min_score": {
    label: "Score from which a word counts",
    unit: "points",
    meaning: "How much more a word is used beyond grade 5 than before. Higher: fewer words count.",
  },
  "vocabulary.max_terms": {
    label: "Words that are forgiven",
    unit: "different words",
    meaning: "So many different words beyond grade 5 a text may have.",
  },
  "vocabulary.max_terms_per_1000": {
    label: "Forgiven in long texts",
    unit: "different words in 1,000",
    meaning: "Below this density a long text passes whatever the count.",
  },
  "vocabulary.sampling.halving": {
    label: "Points that halve the chance",
    unit: "points",
    meaning: "How fast the chance falls as the score rises.",
  },
  "vocabulary.sampling.seed": { label: "Seed of the draw", unit: "", meaning: "The same seed draws the same texts." },
  "models.aoa": {
    label: "Table of ages",
    unit: "",
    meaning: "The table of ages of acquisition that the thresholds belong to.",
  },
  "models.vocabulary": {
    label: "Table of words beyond grade 5",
    unit: "",
    meaning: "The table of scores that the thresholds belong to.",
  },
  "models.fasttext": { label: "Quick grader's model", unit: "", meaning: "The model that the thresholds belong to." },
  "models.encoder": { label: "Careful grader's model", unit: "", meaning: "The model that the thresholds belong to." },
  optional: {
    label: "Left out where a model is missing",
    unit: "",
    meaning: "Stages that a run without their model does without.",
  },
  lexical: { label: "Stage: hard or unknown words", unit: "", meaning: "The whole stage." },
  fasttext: { label: "Stage: quick grader", unit: "", meaning: "The whole stage." },
  encoder: { label: "Stage: careful grader", unit: "", meaning: "The whole stage." },
  notation: { label: "Stage: advanced notation", unit: "", meaning: "The whole stage." },
  vocabulary: { label: "Stage: words beyond grade 5", unit: "", meaning: "The whole stage." },
  name: { label: "Name", unit: "", meaning: "The profile's name." },
  version: { label: "Version", unit: "", meaning: "The version's number." },
};

const VALUES: Record<string, string> = {
  normalized: "tidied",
  raw: "as the source has it",
  published: "the published rules",
  recommended: "Primer's corrected rules",
  window: "in the hardest passage",
  document: "in the whole text",
  block: "excluded",
  sample: "kept by chance",
  lexical: "hard or unknown words",
  fasttext: "quick grader",
  encoder: "careful grader",
  notation: "advanced notation",
  vocabulary: "words beyond grade 5",
};

export function describeThreshold(path: string): Threshold {
  return THRESHOLDS[path] ?? { label: path.replaceAll(/[._]/g, " "), unit: "", meaning: "" };
}

/** A value of a profile's content as people read it; an em dash for nothing. */
export function formatThreshold(path: string, value: unknown): string {
  if (value === null || value === undefined) return "not asked";
  if (Array.isArray(value)) return value.length > 0 ? value.map((one) => formatThreshold("", one)).join(", ") : "none";
  if (typeof value === "object") {
    return Object.entries(value)
      .filter(([, inner]) => inner !== null)
      .map(
        ([key, inner]) => `${describeThreshold(`${path}.${key}`).label}: ${formatThreshold(`${path}.${key}`, inner)}`,
      )
      .join("; ");
  }
  if (path.startsWith("models.") && typeof value === "string") return value.slice(0, 12);
  if (path.endsWith(".top_band") && value === "published") return "in the text as the published filter cuts it";
  if (path === "description" || path === "name") return String(value);
  return typeof value === "string" ? (VALUES[value] ?? value.replaceAll("_", " ")) : String(value);
}

/** The same with its unit, as a sentence would say it. */
export function formatAsked(path: string, value: unknown): string {
  const shown = formatThreshold(path, value);
  if (typeof value !== "number") return shown;
  switch (describeThreshold(path).unit) {
    case "":
      return shown;
    case "0 to 1":
      return `at least ${shown}, from 0 to 1`;
    case "share of words":
      return `at most ${Number((100 * value).toFixed(4))} % of the words`;
    case "different words":
      return value === 1 ? "1 word" : `${shown} different words`;
    default:
      return `${shown} ${describeThreshold(path).unit}`;
  }
}
