// The words for words: what the columns of the vocabulary say, what is ruled, and what rulings change.
import type { RulingFilter, WordOrder, WordRow } from "@/api/vocabularies";
import { formatCount, formatShare, plural } from "./numbers";
import type { Term, Tone } from "./terms";

export const WORD_ORDERS: Record<WordOrder, Term> = {
  sole_documents: {
    label: "Lost by it alone",
    meaning: "Documents that allowing this one word would keep: nothing else speaks against them.",
  },
  harmless: {
    label: "Looks harmless",
    meaning: "Documents lost by the word alone, halved for every point of its score above the threshold.",
  },
  sole_tokens: {
    label: "Tokens lost",
    meaning: "Pieces of words, as language models count text, in the documents that the word alone loses.",
  },
  several_documents: {
    label: "Lost with other words",
    meaning: "Documents that only words exclude, this one and others: allowing it alone is not enough.",
  },
  documents: { label: "Documents with it", meaning: "Documents of the job that hold the word." },
  hit_documents: {
    label: "Counts in",
    meaning: "Documents in which the word counts against the text: fewer where it is told apart by sense.",
  },
  kept_documents: { label: "Kept with it", meaning: "Documents that hold the word and are kept all the same." },
  score: {
    label: "Score",
    meaning:
      "In points: how much more often the word is in texts beyond grade 5 than in K-5 texts. One point more is twice as often.",
  },
  word: { label: "Word", meaning: "In alphabetical order." },
};

export const RULING_FILTERS: Record<RulingFilter, string> = {
  none: "Not ruled on",
  allow: "Allowed",
  block: "Blocked",
  sense: "By sense",
};

export interface RulingTerm extends Term {
  tone: Tone;
}

export const WORD_RULINGS: Record<"allow" | "block" | "sense", RulingTerm> = {
  allow: { label: "Allowed", tone: "good", meaning: "It never counts against a text." },
  block: { label: "Blocked", tone: "bad", meaning: "It always counts against a text." },
  sense: { label: "By sense", tone: "warning", meaning: "The words around it say whether it counts." },
};

export const SENSES = {
  counted: { label: "here it counts", meaning: "The words around it say that it is meant beyond grade 5." },
  innocent: {
    label: "here it does not count",
    meaning: "The words around it say that it is meant as children know it.",
  },
  other: { label: "neither sense", meaning: "The words around it say neither." },
} as const;

export const MOVES: Record<string, Term> = {
  now_kept: { label: "Now kept", meaning: "Come in: not kept before." },
  now_excluded: { label: "Now excluded", meaning: "Go out: not excluded before." },
  now_undecided: { label: "Now undecided", meaning: "Wait for a measurement; they were decided before." },
  no_longer_undecided: { label: "Decided now", meaning: "Waited for a measurement before." },
};

/** "allow, sense" as people read it; nothing: as the table scores it. */
export function describeRuling(ruling: string | null | undefined): string {
  if (!ruling) return "as scored";
  return ruling
    .split(", ")
    .map((part) => (part in WORD_RULINGS ? WORD_RULINGS[part as keyof typeof WORD_RULINGS].label.toLowerCase() : part))
    .join(", ");
}

/** "5.46", or why there is no number. */
export function formatScore({ score, is_never_in_k5 }: Pick<WordRow, "score" | "is_never_in_k5">): string {
  if (score !== null) return score.toFixed(2);
  return is_never_in_k5 ? "never in K-5" : "no score";
}

export function explainScore({ score, is_never_in_k5 }: Pick<WordRow, "score" | "is_never_in_k5">): string {
  if (score !== null)
    return `${score.toFixed(2)} points: ${formatTimes(score)} as often beyond grade 5 as in K-5 texts`;
  return is_never_in_k5 ? "No K-5 text had the word" : "The table of scores does not have the word";
}

function formatTimes(score: number): string {
  const times = 2 ** score;
  return `${times < 10 ? times.toFixed(1) : formatCount(Math.round(times))} times`;
}

/** What the score was counted from. */
export function describeCounts(counts: WordRow["counts"]): string {
  if (!counts) return "Not counted in the texts that scores come from";
  return (
    `In the texts that scores come from: ${plural(counts.count_k5, "time")} in ${plural(counts.docs_k5, "K-5 text")}, ` +
    `${plural(counts.count_beyond, "time")} in ${plural(counts.docs_beyond, "text")} beyond grade 5`
  );
}

export function formatKeptShare(share: number): string {
  return formatShare(share, 1);
}

export const LOOKS_HARMLESS: Term = {
  label: "Looks harmless",
  meaning:
    "Less than one point above the threshold, nobody ruled on it, and it alone loses documents. A pointer to where to read, no verdict.",
};

export const ALONE: Term = {
  label: "Loses documents alone",
  meaning: "Only words that one would have to allow to keep a document, and no other.",
};

/** What words exclude, by what would bring it back. */
export const LOSSES: readonly (Term & { key: "one_word" | "maybe_one_word" | "several_words" | "with_others" })[] = [
  { key: "one_word", label: "by one word alone", meaning: "Allowing one word would keep them." },
  {
    key: "maybe_one_word",
    label: "perhaps by one word",
    meaning: "Allowing one word would be enough, if what is not measured yet speaks for them.",
  },
  { key: "several_words", label: "by several words", meaning: "Only words exclude them, and no one word is enough." },
  { key: "with_others", label: "for other reasons too", meaning: "Allowing words would not keep them." },
];
