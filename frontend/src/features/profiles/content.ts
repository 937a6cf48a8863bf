// A profile's content as a form holds it: every field a string or a yes/no, by its place; and back.

export type Content = Record<string, unknown>;

interface FieldDescription {
  path: string;
  kind: "number" | "choice" | "list" | "text";
  /** An empty field is left out. */
  isOptional?: boolean;
  choices?: readonly string[];
  /** What the browser's own arrows add. */
  step?: number;
}

export interface StageDescription {
  stage: string;
  fields: readonly FieldDescription[];
  /** What the stage asks when it is switched on anew. */
  fresh: Content;
}

export const STAGES: readonly StageDescription[] = [
  {
    stage: "lexical",
    fields: [
      { path: "lexical.max_p95_aoa", kind: "number", step: 0.1 },
      { path: "lexical.max_oov_ratio", kind: "number", step: 0.01 },
    ],
    fresh: { max_p95_aoa: 12, max_oov_ratio: 0.05 },
  },
  {
    stage: "notation",
    fields: [
      { path: "notation.rules", kind: "choice", choices: ["recommended", "published"] },
      { path: "notation.ignore", kind: "list" },
    ],
    fresh: { rules: "recommended", ignore: [] },
  },
  {
    stage: "vocabulary",
    fields: [
      { path: "vocabulary.min_score", kind: "number", step: 0.1 },
      { path: "vocabulary.max_terms", kind: "number", step: 1 },
      { path: "vocabulary.max_terms_per_1000", kind: "number", step: 0.1, isOptional: true },
    ],
    fresh: { mode: "block", min_score: 4, max_terms: 1, max_terms_per_1000: null, sampling: null },
  },
  {
    stage: "fasttext",
    fields: [
      { path: "fasttext.min_k5_document", kind: "number", step: 0.01, isOptional: true },
      { path: "fasttext.min_k5_window", kind: "number", step: 0.01, isOptional: true },
      { path: "fasttext.top_band", kind: "choice", choices: ["document", "window", "published"], isOptional: true },
    ],
    fresh: { top_band: null, min_k5_document: 0.3, min_k5_window: 0.3 },
  },
  {
    stage: "encoder",
    fields: [
      { path: "encoder.min_k5_window", kind: "number", step: 0.01, isOptional: true },
      { path: "encoder.top_band", kind: "choice", choices: ["window", "published"], isOptional: true },
    ],
    fresh: { top_band: null, min_k5_window: 0.2 },
  },
];

export const COMMON_FIELDS: readonly FieldDescription[] = [
  { path: "description", kind: "text" },
  { path: "form", kind: "choice", choices: ["normalized", "raw"] },
];

export function readPlace(content: Content, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), content);
}

/** A copy with another value at a place. */
export function writePlace(content: Content, path: string, value: unknown): Content {
  const [key = "", ...rest] = path.split(".");
  if (rest.length === 0) return { ...content, [key]: value };
  const inner = content[key];
  return { ...content, [key]: writePlace(isRecord(inner) ? inner : {}, rest.join("."), value) };
}

export function showValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** What a person wrote as the value of a field; `error` where it is none. */
export function parseValue(field: FieldDescription, text: string): { value: unknown; error?: string } {
  const trimmed = text.trim();
  switch (field.kind) {
    case "list":
      return { value: trimmed.split(/[,\s]+/).filter(Boolean) };
    case "number": {
      if (trimmed === "") return field.isOptional ? { value: null } : { value: null, error: "Give a number." };
      const number = Number(trimmed.replace(",", "."));
      return Number.isFinite(number) ? { value: number } : { value: null, error: "Give a number." };
    }
    case "choice":
      return { value: trimmed === "" ? null : trimmed };
    case "text":
      return { value: text };
  }
}

function isRecord(value: unknown): value is Content {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
