// The rows of the table: concepts, or groups of them, that fit what was asked, in the order that was asked for.
import type { Concept } from "@/api/catalogues";
import type { ConceptReport, GroupCounts, MentionCounts } from "@/api/concepts";
import { describeGrades, describeSubject, NO_STANDARD } from "@/words/concepts";

export type Grouping = "concept" | "subject" | "band" | "standard";
export type Column = "name" | "documents" | "excluded" | "kept";

const GROUPINGS: readonly Grouping[] = ["concept", "subject", "band", "standard"];

export function isGrouping(written: string): written is Grouping {
  return (GROUPINGS as readonly string[]).includes(written);
}

export interface Row {
  id: string;
  name: string;
  /** Of a concept: what it is of; of a group null. */
  concept: Pick<Concept, "subject" | "band" | "standard"> | null;
  /** Everything that a search looks through, in small letters. */
  words: string;
  /** Null: not measured yet. */
  counts: MentionCounts | null;
}

/** Concepts of the report in its order, then those that it does not know yet. `concepts`: what each is made of. */
export function listConcepts(report: ConceptReport | null, concepts: ReadonlyMap<string, Concept>): Row[] {
  const counts = new Map(report?.concepts.map((counted) => [counted.concept, counted]));
  const reported = (report?.concepts ?? []).map((counted): Row => {
    const concept = concepts.get(counted.concept);
    const shown = concept ?? {
      subject: counted.subject as Concept["subject"],
      band: counted.band as Concept["band"],
      standard: counted.standard,
    };
    const words = concept ? joinWords(concept) : `${counted.concept}\n${counted.name}`.toLowerCase();
    return { id: counted.concept, name: counted.name, concept: shown, words, counts: counted };
  });
  const others = [...concepts.values()].filter(({ id }) => !counts.has(id));
  return [
    ...reported,
    ...others.map((concept): Row => ({
      id: concept.id,
      name: concept.name,
      concept,
      words: joinWords(concept),
      counts: null,
    })),
  ];
}

function joinWords(concept: Concept): string {
  const senses = concept.senses.flatMap(({ terms, near }) => [...terms, ...near]);
  const { id, name, standard, terms, verbs, exact, innocent, k5_neighbour } = concept;
  return [id, name, standard ?? "", ...terms, ...verbs, ...exact, ...senses, ...innocent, k5_neighbour]
    .join("\n")
    .toLowerCase();
}

export interface Filter {
  search: string;
  subject: string | null;
  band: string | null;
  standard: string | null;
}

export function filterConcepts(rows: readonly Row[], { search, subject, band, standard }: Filter): Row[] {
  const wanted = search.trim().toLowerCase();
  return rows.filter(
    ({ concept, words }) =>
      (subject === null || concept?.subject === subject) &&
      (band === null || concept?.band === band) &&
      (standard === null || (concept?.standard ?? "") === standard) &&
      words.includes(wanted),
  );
}

/** The groups of a report; the search is in their names. A document counts once in a group. */
export function listGroups(report: ConceptReport, grouping: Exclude<Grouping, "concept">, search: string): Row[] {
  const groups = { subject: report.subjects, band: report.bands, standard: report.standards }[grouping];
  const wanted = search.trim().toLowerCase();
  return groups
    .map((counts): Row => {
      const name = nameGroup(grouping, counts);
      return { id: counts.name, name, concept: null, words: name.toLowerCase(), counts };
    })
    .filter(({ words }) => words.includes(wanted));
}

function nameGroup(grouping: Grouping, { name }: GroupCounts): string {
  if (grouping === "subject") return describeSubject(name);
  if (grouping === "band") return describeGrades(name).label;
  return name || NO_STANDARD;
}

/** What was not measured comes last in every order of numbers; equal ones stay as they were. */
export function sortRows(
  rows: readonly Row[],
  { column, isDescending }: { column: Column; isDescending: boolean },
): Row[] {
  const sign = isDescending ? -1 : 1;
  if (column === "name") return [...rows].sort((a, b) => sign * a.name.localeCompare(b.name, "en"));
  return [...rows].sort((a, b) => {
    if (a.counts === null || b.counts === null) return Number(a.counts === null) - Number(b.counts === null);
    return sign * (a.counts[column] - b.counts[column]);
  });
}

/** The stage that excludes most of a concept's documents; undefined where none does. */
export function findMainCause({ excluded_by }: Pick<MentionCounts, "excluded_by">): [string, number] | undefined {
  return rankCauses(excluded_by)[0];
}

export function rankCauses(causes: Record<string, number>): [string, number][] {
  return Object.entries(causes)
    .filter(([, documents]) => documents > 0)
    .sort(([, a], [, b]) => b - a);
}
