// A concept as it stands in the fields of a form, and back.
import type { Concept, ConceptBand, Sense, Subject } from "@/api/catalogues";

export interface SenseFields {
  terms: string;
  near: string;
  within: string;
}

export interface ConceptFields {
  name: string;
  subject: Subject;
  band: ConceptBand;
  standard: string;
  basis: string;
  terms: string;
  verbs: string;
  exact: string;
  innocent: string;
  not_near: string;
  within: string;
  k5_neighbour: string;
  senses: SenseFields[];
}

export const EMPTY_FIELDS: ConceptFields = {
  name: "",
  subject: "math",
  band: "K8",
  standard: "",
  basis: "",
  terms: "",
  verbs: "",
  exact: "",
  innocent: "",
  not_near: "",
  within: "8",
  k5_neighbour: "",
  senses: [],
};

export const EMPTY_SENSE: SenseFields = { terms: "", near: "", within: "8" };

export function writeFields(concept: Concept): ConceptFields {
  const { name, subject, band, basis, k5_neighbour } = concept;
  return {
    name,
    subject,
    band,
    basis,
    k5_neighbour,
    standard: concept.standard ?? "",
    terms: concept.terms.join("\n"),
    verbs: concept.verbs.join("\n"),
    exact: concept.exact.join("\n"),
    innocent: concept.innocent.join("\n"),
    not_near: concept.not_near.join("\n"),
    within: String(concept.within),
    senses: concept.senses.map(({ terms, near, within }) => ({
      terms: terms.join(", "),
      near: near.join(", "),
      within: String(within),
    })),
  };
}

const MOST_WITHIN = 40;

/** The concept, or what is missing in one sentence. The service looks at the rest. */
export function readFields(fields: ConceptFields, id: string): { concept: Concept } | { problem: string } {
  const within = readWithin(fields.within);
  const senses = fields.senses.map(readSense);
  const concept: Concept = {
    id,
    name: fields.name.trim(),
    subject: fields.subject,
    band: fields.band,
    standard: fields.standard.trim() || null,
    basis: fields.basis.trim(),
    terms: readLines(fields.terms),
    verbs: readLines(fields.verbs),
    exact: readLines(fields.exact),
    innocent: readLines(fields.innocent),
    not_near: readLines(fields.not_near),
    within: within ?? 8,
    k5_neighbour: fields.k5_neighbour.trim(),
    senses: senses.filter((sense) => sense !== null),
  };
  if (!concept.name || !id) return { problem: "Give it a name." };
  if (within === null || senses.includes(null)) {
    return {
      problem: `How near is a whole number from 1 to ${MOST_WITHIN}, and a word that counts only near others needs both.`,
    };
  }
  if ([concept.terms, concept.verbs, concept.exact, concept.senses].every((words) => words.length === 0)) {
    return { problem: "Give at least one word: nothing could show it." };
  }
  if (concept.standard === null && !concept.basis) {
    return { problem: "Give its standard, or say what puts it after grade 5." };
  }
  return { concept };
}

function readSense({ terms, near, within }: SenseFields): Sense | null {
  const sense = { terms: readList(terms), near: readList(near), within: readWithin(within) ?? 0 };
  return sense.terms.length > 0 && sense.near.length > 0 && sense.within > 0 ? sense : null;
}

function readWithin(text: string): number | null {
  const value = Number(text);
  return Number.isInteger(value) && value >= 1 && value <= MOST_WITHIN ? value : null;
}

function readLines(text: string): string[] {
  return once(text.split("\n"));
}

function readList(text: string): string[] {
  return once(text.split(","));
}

function once(words: string[]): string[] {
  return [...new Set(words.map((word) => word.trim()).filter(Boolean))];
}

const MOST_ID = 60;

/** The id of a new concept, which it keeps for ever: its name in small letters and hyphens. */
export function makeId(name: string, isTaken: (id: string) => boolean): string {
  const plain = name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase();
  const id = plain
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, MOST_ID - 4)
    .replace(/-$/, "");
  if (!id || !isTaken(id)) return id;
  for (let number = 2; ; number += 1) {
    if (!isTaken(`${id}-${number}`)) return `${id}-${number}`;
  }
}
