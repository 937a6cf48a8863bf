// Concepts in plain words: their subjects, the grades that first teach them, the parts of their description.
import type { Concept, ConceptBand, Subject } from "@/api/catalogues";
import type { Term } from "./terms";

export const SUBJECTS: Record<Subject, string> = {
  math: "Math",
  "physical science": "Physical science",
  "life science": "Life science",
  "earth & space science": "Earth & space science",
  ELA: "English language arts",
  "social studies": "Social studies",
};

export const CONCEPT_GRADES: Record<ConceptBand, Term> = {
  K8: { label: "grades 6-8", meaning: "First taught in grades 6 to 8." },
  K12: { label: "grades 9-12", meaning: "First taught in grades 9 to 12." },
  beyond: { label: "beyond school", meaning: "Not taught in school." },
};

export function describeSubject(subject: string): string {
  return SUBJECTS[subject as Subject] ?? subject;
}

export function describeGrades(band: string): Term {
  return CONCEPT_GRADES[band as ConceptBand] ?? { label: band, meaning: "" };
}

export const NO_STANDARD = "no standard";

const SCIENCE = /^(MS|HS)-/;

/** Whose standard a code is of. */
export function explainStandard(code: string | null): string {
  if (!code) return "No Common Core or NGSS standard introduces it.";
  return SCIENCE.test(code)
    ? "The standard of the Next Generation Science Standards (NGSS) that introduces it."
    : "The Common Core standard that introduces it.";
}

export type ConceptField = Exclude<keyof Concept, "id">;

/** The parts of a concept's description, in the order they are read. */
export const CONCEPT_FIELDS: Record<ConceptField, Term> = {
  name: { label: "Name", meaning: "What people call it." },
  subject: { label: "Subject", meaning: "The school subject that teaches it." },
  band: { label: "Grades", meaning: "When school first teaches it." },
  standard: { label: "Standard", meaning: "The Common Core or NGSS code that introduces it." },
  basis: { label: "Basis", meaning: "What puts it after grade 5, where no standard does." },
  terms: { label: "Words", meaning: "In any case; the last word also in the plural." },
  verbs: { label: "Verbs", meaning: "The first word also with -s, -ed, -ing and irregular forms." },
  exact: { label: "Exactly as written", meaning: "In this very form only: acronyms, formulas, names." },
  senses: { label: "Only near others", meaning: "Words that count only where a certain other word stands near." },
  innocent: { label: "False friends", meaning: "Phrases in which its words mean something else: they do not count." },
  not_near: { label: "Not near", meaning: "Words that cancel it where they stand near." },
  within: { label: "Near means within", meaning: "So many words on either side, for the words that cancel it." },
  k5_neighbour: { label: "Fine in grades K-5", meaning: "What is taught up to grade 5 and looks much like it." },
};

/** A small share in per cent; what is not nothing never reads 0 %. */
export function formatLeakShare(share: number): string {
  const percent = 100 * share;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (percent < 0.01) return "< 0.01 %";
  return `${formatPercent(percent)} %`;
}

export function formatInterval([low, high]: readonly [number, number] | readonly number[]): string {
  return `${formatPercent(100 * (low ?? 0))} to\u00a0${formatPercent(100 * (high ?? 0))}\u00a0%`;
}

function formatPercent(percent: number): string {
  if (percent === 0 || percent === 100) return String(percent);
  return percent.toFixed(percent < 1 ? 2 : percent < 10 ? 1 : 0);
}

export const INTERVAL_MEANING =
  "The share is exact for these documents. Of other documents made the same way it lies, with 95 % certainty, in this interval (Clopper-Pearson).";
