// Edits that are kept in the browser until they are saved or given up: a page that is closed, a session that ends or a service
// that is down loses none. Each person has one draft for each version that edits are based on.
import { useMemo } from "react";
import { useSignedInName } from "@/api/roles";
import { createStore, useStore, type Store } from "@/api/store";
import type { Edits } from "./edits";

export interface Draft {
  edits: Edits;
  /** Of the version to be saved; null: as it is suggested. */
  name: string | null;
  note: string;
}

export const NO_DRAFT: Draft = { edits: {}, name: null, note: "" };
const PREFIX = "primer.vocabulary";

const stores = new Map<string, Store<Draft>>();

/** The draft on top of a version; null: of the vocabulary without rulings. */
export function useDraft(base: number | null): [Draft, (draft: Draft) => void] {
  const person = useSignedInName();
  const key = nameKey(person, base);
  const store = useMemo(() => findStore(key), [key]);
  return [useStore(store), (draft) => keep(key, draft)];
}

/** Lays a draft on top of another version. */
export function moveDraft(person: string, from: number | null, to: number, draft: Draft): void {
  const there = findStore(nameKey(person, to)).get();
  keep(nameKey(person, to), { ...draft, edits: { ...there.edits, ...draft.edits } });
  keep(nameKey(person, from), NO_DRAFT);
}

function nameKey(person: string, base: number | null): string {
  return `${PREFIX}.${person}.${base ?? "none"}`;
}

function findStore(key: string): Store<Draft> {
  let store = stores.get(key);
  if (!store) {
    store = createStore(readKept(key));
    stores.set(key, store);
  }
  return store;
}

function keep(key: string, draft: Draft): void {
  findStore(key).set(draft);
  try {
    if (Object.keys(draft.edits).length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Storage is switched off or full: the draft holds until the page is closed.
  }
}

function readKept(key: string): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Draft | null;
    return kept && typeof kept.edits === "object" ? { ...NO_DRAFT, ...kept } : NO_DRAFT;
  } catch {
    return NO_DRAFT;
  }
}

// Another tab of the same person has changed it.
globalThis.window?.addEventListener("storage", ({ key }) => {
  if (key !== null) stores.get(key)?.set(readKept(key));
});
