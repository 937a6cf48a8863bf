// Words of rulings: what a person does to a document, and what was done before.
import type { Ruling, Verb } from "@/api/rulings";

export const VERBS: Record<Verb, { title: string; button: string; done: string; past: string }> = {
  keep: { title: "Keep this document", button: "Keep", done: "Kept", past: "kept it" },
  exclude: { title: "Exclude this document", button: "Exclude", done: "Excluded", past: "excluded it" },
  undo: {
    title: "Undo the ruling",
    button: "Undo",
    done: "Undone: the profile decides again",
    past: "undid the ruling",
  },
};

/** The ruling that holds: the newest, unless it undid the one before. */
export function findInForce(newestFirst: readonly Ruling[]): Ruling | undefined {
  const [newest] = newestFirst;
  return newest && newest.action !== "undo" ? newest : undefined;
}

/** Somebody else's ruling that says otherwise, which a new one would overrule. */
export function findOverruled(newestFirst: readonly Ruling[], action: Verb, self: string): Ruling | undefined {
  const inForce = findInForce(newestFirst);
  return inForce && inForce.author !== self && inForce.action !== action ? inForce : undefined;
}
