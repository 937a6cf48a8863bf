// The numbers of a profile that can be moved: which signal each cuts, on which side it keeps, and how far it may go.
import type { ProfileContent } from "@/api/documents";

export interface Cut {
  /** The place in the profile's content. */
  path: string;
  stage: string;
  /** The signal whose values it cuts. */
  column: string;
  /** Keeps what is at most there; else what is at least there. */
  isMaximum: boolean;
  /** What is drawn, unless the threshold lies beyond it. */
  low: number;
  high: number;
  step: number;
  /** Least and greatest value that a profile may have there. */
  least: number;
  most: number;
}

const CHANCE = { isMaximum: false, low: 0, high: 1, step: 0.01, least: 0, most: 1 };

const CUTS: readonly Cut[] = [
  {
    path: "lexical.max_p95_aoa",
    stage: "lexical",
    column: "p95_aoa",
    isMaximum: true,
    low: 4,
    high: 18,
    step: 0.1,
    least: 0.1,
    most: 100,
  },
  {
    path: "lexical.max_oov_ratio",
    stage: "lexical",
    column: "oov_ratio",
    isMaximum: true,
    low: 0,
    high: 0.3,
    step: 0.005,
    least: 0,
    most: 1,
  },
  { path: "fasttext.min_k5_document", stage: "fasttext", column: "fasttext_document_k5", ...CHANCE },
  { path: "fasttext.min_k5_window", stage: "fasttext", column: "fasttext_window_k5", ...CHANCE },
  { path: "encoder.min_k5_window", stage: "encoder", column: "encoder_window_k5", ...CHANCE },
  {
    path: "vocabulary.max_terms",
    stage: "vocabulary",
    column: "term_count",
    isMaximum: true,
    low: 0,
    high: 16,
    step: 1,
    least: 0,
    most: 1_000,
  },
  {
    path: "vocabulary.min_score",
    stage: "vocabulary",
    column: "top_term_score",
    isMaximum: false,
    low: 0,
    high: 12,
    step: 0.1,
    least: 0,
    most: 100,
  },
];

/** Those that a profile reads. */
export function listCuts(content: ProfileContent): Cut[] {
  return CUTS.filter(({ path }) => readCut(content, path) !== null);
}

export function readCut(content: ProfileContent, path: string): number | null {
  const [stage = "", name = ""] = path.split(".");
  const held = (content as unknown as Record<string, Record<string, unknown> | null | undefined>)[stage]?.[name];
  return typeof held === "number" ? held : null;
}

/** A copy with another number there. */
export function writeCut(content: ProfileContent, path: string, value: number): ProfileContent {
  const [stage = "", name = ""] = path.split(".");
  const held = (content as unknown as Record<string, Record<string, unknown>>)[stage];
  return { ...content, [stage]: { ...held, [name]: value } };
}

/** What the cut does at a value, in words: `shown` is the value with its unit. */
export function describeCut({ path, isMaximum }: Cut, shown: string): string {
  if (path === "vocabulary.min_score") return `A word counts from ${shown} on`;
  return `Kept: ${isMaximum ? "at most" : "at least"} ${shown}`;
}

/** The nearest value that the cut may have. */
export function snap({ step, least, most }: Cut, value: number): number {
  const digits = Math.max(0, Math.ceil(-Math.log10(step)) + 1);
  return Math.max(least, Math.min(most, Number((Math.round(value / step) * step).toFixed(digits))));
}

/** What is drawn: the usual stretch, widened to hold the thresholds. */
export function findStretch({ low, high, most }: Cut, values: readonly number[]): { low: number; high: number } {
  const furthest = Math.max(...values);
  return {
    low: Math.min(low, ...values),
    high: furthest >= high ? Math.min(most, Math.ceil(furthest * 1.25 * 100) / 100) : high,
  };
}

/** Where the line stands: of whole numbers that are kept the next one is the first beyond. */
export function placeLine({ isMaximum, step }: Cut, value: number): number {
  return isMaximum && step === 1 ? value + 1 : value;
}

export type Moves = ReadonlyMap<string, number>;

/** Moved thresholds as the page's address has them. */
export function writeMoves(moves: Moves): string[] {
  return [...moves].map(([path, value]) => `${path}:${value}`);
}

export function readMoves(written: readonly string[]): Moves {
  return new Map(
    written.flatMap((one): [string, number][] => {
      const [path = "", value = ""] = one.split(":");
      const cut = CUTS.find((known) => known.path === path);
      const number = Number(value);
      return cut && value !== "" && Number.isFinite(number)
        ? [[path, Math.max(cut.least, Math.min(cut.most, number))]]
        : [];
    }),
  );
}

/** The content with every move that it has a place for. */
export function applyMoves(content: ProfileContent, moves: Moves): ProfileContent {
  return [...moves].reduce(
    (moved, [path, value]) => (readCut(moved, path) === null ? moved : writeCut(moved, path, value)),
    content,
  );
}
