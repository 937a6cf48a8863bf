// Rulings that are not saved yet, word by word. An edit says everything about its word, so edits can be laid on top of any
// version: on the one they were made from, and on one that somebody else saved meanwhile.
import type { Rulings, SenseContext } from "@/api/vocabularies";

export interface Edit {
  word: string;
  /** What it is where the words around it say nothing; null: as the table scores it. */
  ruling: "allow" | "block" | null;
  innocentIf: readonly SenseContext[];
  countsIf: readonly SenseContext[];
  note: string;
}

export type Edits = Readonly<Record<string, Edit>>;

export function readEdit(rulings: Rulings, word: string): Edit {
  const rule = rulings.senses.find(({ term }) => term === word);
  return {
    word,
    ruling: rulings.allow.includes(word) ? "allow" : rulings.block.includes(word) ? "block" : null,
    innocentIf: rule?.innocent_if ?? [],
    countsIf: rule?.counts_if ?? [],
    note: rule?.note || (Object.hasOwn(rulings.notes, word) ? (rulings.notes[word] ?? "") : ""),
  };
}

/** What is to be ruled of a word, where something is. */
export function findEdit(edits: Edits, word: string): Edit | undefined {
  return Object.hasOwn(edits, word) ? edits[word] : undefined; // "constructor" is a word, too
}

export function hasSenses({ innocentIf, countsIf }: Edit): boolean {
  return innocentIf.length + countsIf.length > 0;
}

export function isUnruled(edit: Edit): boolean {
  return edit.ruling === null && !hasSenses(edit);
}

/** As the service names it: "allow, sense"; null for a word that nothing rules on. */
export function nameRuling(edit: Edit): string | null {
  return [edit.ruling, hasSenses(edit) ? "sense" : null].filter(Boolean).join(", ") || null;
}

export function isSameEdit(one: Edit, other: Edit): boolean {
  return JSON.stringify(tidy(one)) === JSON.stringify(tidy(other));
}

/** The edits with one more. One that says what the version says already is none. */
export function addEdit(edits: Edits, base: Rulings, edit: Edit): Edits {
  const rest = Object.fromEntries(Object.entries(edits).filter(([word]) => word !== edit.word));
  return isSameEdit(edit, readEdit(base, edit.word)) ? rest : { ...rest, [edit.word]: tidy(edit) };
}

export function dropEdit(edits: Edits, word: string): Edits {
  return Object.fromEntries(Object.entries(edits).filter(([other]) => other !== word));
}

/** The version that comes of the edits. */
export function applyEdits(base: Rulings, edits: Edits): Rulings {
  const isOther = (word: string) => !Object.hasOwn(edits, word);
  const made: Rulings = {
    allow: base.allow.filter(isOther),
    block: base.block.filter(isOther),
    senses: base.senses.filter(({ term }) => isOther(term)),
    notes: Object.fromEntries(Object.entries(base.notes).filter(([word]) => isOther(word))),
  };
  for (const edit of Object.values(edits)) {
    if (edit.ruling) made[edit.ruling].push(edit.word);
    if (hasSenses(edit)) {
      made.senses.push({
        term: edit.word,
        note: edit.note,
        innocent_if: [...edit.innocentIf],
        counts_if: [...edit.countsIf],
      });
    } else if (edit.ruling && edit.note) {
      made.notes[edit.word] = edit.note;
    }
  }
  return made;
}

/** The edits that make `wanted` of `base`: what a file says, word by word. */
export function findEdits(base: Rulings, wanted: Rulings): Edits {
  const words = [base, wanted].flatMap(({ allow, block, senses }) => [
    ...allow,
    ...block,
    ...senses.map(({ term }) => term),
  ]);
  return [...new Set(words)].reduce<Edits>((edits, word) => addEdit(edits, base, readEdit(wanted, word)), {});
}

/** Words as people write them, between spaces or commas: each once, in order; those that no text can hold apart. */
export function readWords(written: string): { words: string[]; wrong: string[] } {
  const parts = [
    ...new Set(
      written
        .toLowerCase()
        .split(/[\s,;]+/)
        .filter(Boolean),
    ),
  ].sort();
  const isRight = (word: string) => /^[a-z]{2,}$/.test(word);
  return { words: parts.filter(isRight), wrong: parts.filter((word) => !isRight(word)) };
}

function tidy(edit: Edit): Edit {
  const sort = (contexts: readonly SenseContext[]) =>
    contexts.map(({ words, left, right }) => ({ words: [...words].sort(), left, right }));
  return {
    word: edit.word,
    ruling: edit.ruling,
    innocentIf: sort(edit.innocentIf),
    countsIf: sort(edit.countsIf),
    note: isUnruled(edit) ? "" : edit.note.trim(),
  };
}
