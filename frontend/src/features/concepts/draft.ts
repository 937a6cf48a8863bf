// An edit of the catalogue while it is collected: concept by concept, from one version. It stays until it is saved or thrown
// away, also when the page is loaded again.
import type { Concept, Edit } from "@/api/catalogues";
import { createStore } from "@/api/store";

const KEY = "primer.catalogue-edit";

function read(): Edit | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Edit | null;
  } catch {
    return null;
  }
}

export const draft = createStore<Edit | null>(read());

export function setDraft(edit: Edit | null): void {
  draft.set(edit);
  try {
    if (edit === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(edit));
  } catch {
    // No room or no storage: the edit holds until the page is closed.
  }
}

/** The edit with a concept in it. `base`: as the version has it, undefined for a new one. An edit of a file is left for it. */
export function putConcept(
  edit: Edit | null,
  version: number,
  base: Concept | undefined,
  concept: Concept,
): Edit | null {
  const begun = begin(edit, version);
  const put = begun.put.filter(({ id }) => id !== concept.id);
  const remove = begun.remove.filter((id) => id !== concept.id);
  if (base === undefined || !isSame(base, concept)) put.push(concept);
  return orNothing({ ...begun, put, remove });
}

export function removeConcept(edit: Edit | null, version: number, id: string, isKnown: boolean): Edit | null {
  const begun = begin(edit, version);
  const put = begun.put.filter((concept) => concept.id !== id);
  const remove = begun.remove.filter((other) => other !== id);
  return orNothing({ ...begun, put, remove: isKnown ? [...remove, id] : remove });
}

/** The edit without what it does to a concept. */
export function leaveOut(edit: Edit, id: string): Edit | null {
  const put = edit.put.filter((concept) => concept.id !== id);
  return orNothing({ ...edit, put, remove: edit.remove.filter((other) => other !== id) });
}

export function isInEdit(edit: Edit | null, id: string): boolean {
  return edit !== null && (edit.remove.includes(id) || edit.put.some((concept) => concept.id === id));
}

/** The concepts that an edit and somebody else's version both touch. */
export function findOverlap(edit: Edit, theirs: readonly { id: string }[]): string[] {
  return theirs.map(({ id }) => id).filter((id) => isInEdit(edit, id));
}

/** The same edit on a newer version. What that version no longer has need not be removed. */
export function moveTo(edit: Edit, version: number, concepts: ReadonlyMap<string, Concept>): Edit | null {
  const moved = { ...edit, based_on: version, remove: edit.remove.filter((id) => concepts.has(id)) };
  return edit.csv === null ? orNothing(moved) : moved;
}

export function isSame(one: Concept, other: Concept): boolean {
  return JSON.stringify(normalise(one)) === JSON.stringify(normalise(other));
}

function normalise(concept: Concept): [string, unknown][] {
  return Object.entries({ ...concept, standard: concept.standard ?? null }).sort(([a], [b]) => (a < b ? -1 : 1));
}

function begin(edit: Edit | null, version: number): Edit {
  return edit?.csv === null ? edit : { based_on: version, put: [], remove: [], csv: null };
}

function orNothing(edit: Edit): Edit | null {
  return edit.put.length === 0 && edit.remove.length === 0 ? null : edit;
}
