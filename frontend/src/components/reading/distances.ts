// How far a text that was only tried is from every threshold; of documents the service says it.
import type { Distance, Explanation, StageView } from "@/api/documents";

/** As `measure_distances` of the library: a margin of 0 or more passes. */
export function measureDistances(explanation: Explanation): Distance[] {
  const words = explanation.stages.find(({ stage }) => stage === "lexical")?.values.token_count;
  return explanation.stages.flatMap((stage) => measureStage(stage, typeof words === "number" ? words : null));
}

function measureStage({ stage, values, thresholds, evidence }: StageView, wordCount: number | null): Distance[] {
  const atMost = (name: string, value: unknown, limit: unknown) => measure(stage, name, value, limit, -1);
  const atLeast = (name: string, value: unknown, limit: unknown) => measure(stage, name, value, limit, 1);
  switch (stage) {
    case "lexical":
      return [
        ...atMost("p95_aoa", values.p95_aoa, thresholds.max_p95_aoa),
        ...atMost("oov_ratio", values.oov_ratio, thresholds.max_oov_ratio),
      ];
    case "fasttext":
    case "encoder":
      return [
        ...atLeast("document_k5", firstOf(values.document), thresholds.min_k5_document),
        ...atLeast("window_k5", firstOf(values.window), thresholds.min_k5_window),
        ...(typeof thresholds.top_band === "string"
          ? atLeast(`${thresholds.top_band}_lead`, leadOf(values[thresholds.top_band]), 0)
          : []),
      ];
    case "notation":
      return atMost("rule_count", evidence.length, 0);
    case "vocabulary": {
      const count = Object.keys((values.terms ?? {}) as Record<string, unknown>).length;
      return [
        ...atMost("term_count", count, thresholds.max_terms),
        ...atMost("terms_per_1000", wordCount ? (count * 1_000) / wordCount : null, thresholds.max_terms_per_1000),
      ];
    }
    default:
      return [];
  }
}

function measure(stage: string, name: string, value: unknown, limit: unknown, sign: 1 | -1): Distance[] {
  if (typeof limit !== "number") return [];
  if (typeof value !== "number") return [{ stage, name, value: null, threshold: limit, margin: null }];
  return [{ stage, name, value, threshold: limit, margin: sign * (value - limit) }];
}

function firstOf(grades: unknown): unknown {
  return Array.isArray(grades) ? grades[0] : null;
}

function leadOf(grades: unknown): number | null {
  if (!Array.isArray(grades)) return null;
  const [first, ...others] = grades as number[];
  return first === undefined ? null : first - Math.max(...others);
}
