// What the page shows, as its address says it: which words, in which order, which one is looked at, by which version.
import type { LinesAsked, RulingFilter, Subject, WordOrder, WordsAsked } from "@/api/vocabularies";
import { SUBJECTS } from "@/words/concepts";
import { RULING_FILTERS, WORD_ORDERS } from "@/words/vocabulary";

export interface View {
  search: string;
  subject: Subject | null;
  ruling: RulingFilter | null;
  isHarmless: boolean;
  /** Only words that alone lose documents. */
  isAlone: boolean;
  order: WordOrder;
  isDescending: boolean;
  /** The word that is looked at. */
  word: string | null;
  /** The edits are shown in the place of a word. */
  isEditing: boolean;
  /** The version that rules; null: the job's own. */
  versionId: number | null;
  /** Of the word's places: from which documents, from which site, in which order. */
  places: Places;
}

export interface Places {
  outcome: NonNullable<LinesAsked["outcome"]> | null;
  isAlone: boolean;
  site: string;
  sort: LinesAsked["sort"];
}

const OUTCOMES = ["kept", "excluded", "undecided"] as const;
const SORTS = ["document", "left", "right", "domain"] as const;
export const DEFAULT_ORDER: WordOrder = "sole_documents";

export function writeView(view: View): URLSearchParams {
  const address = new URLSearchParams();
  const set = (key: string, value: string | null) => value && address.set(key, value);
  set("search", view.search);
  set("subject", view.subject);
  set("ruling", view.ruling);
  set("harmless", view.isHarmless ? "yes" : null);
  set("alone", view.isAlone ? "yes" : null);
  if (view.order !== DEFAULT_ORDER || !view.isDescending) {
    address.set("sort", `${view.isDescending ? "-" : ""}${view.order}`);
  }
  set("version", view.versionId === null ? null : String(view.versionId));
  set("word", view.word);
  set("edits", view.isEditing ? "yes" : null);
  set("from", view.places.outcome);
  set("lost", view.places.isAlone ? "yes" : null);
  set("site", view.places.site);
  set("by", view.places.sort === "document" ? null : view.places.sort);
  return address;
}

/** What an address asks; parts of it that mean nothing are passed over. */
export function readView(address: URLSearchParams): View {
  const sort = /^(-?)(\w+)$/.exec(address.get("sort") ?? "");
  const order = sort ? readKey(sort[2] ?? null, WORD_ORDERS) : null;
  const version = address.get("version") ?? "";
  const word = address.get("word") ?? "";
  return {
    search: (address.get("search") ?? "").slice(0, 100),
    subject: readKey(address.get("subject"), SUBJECTS),
    ruling: readKey(address.get("ruling"), RULING_FILTERS),
    isHarmless: address.get("harmless") === "yes",
    isAlone: address.get("alone") === "yes",
    order: order ?? DEFAULT_ORDER,
    isDescending: order === null || sort?.[1] === "-",
    word: isWord(word) ? word : null,
    isEditing: address.get("edits") === "yes",
    versionId: /^[1-9]\d{0,14}$/.test(version) ? Number(version) : null,
    places: {
      outcome: OUTCOMES.find((outcome) => outcome === address.get("from")) ?? null,
      isAlone: address.get("lost") === "yes",
      site: (address.get("site") ?? "").slice(0, 300),
      sort: SORTS.find((one) => one === address.get("by")) ?? "document",
    },
  };
}

/** The question that a view puts, apart from the word that is looked at. */
export function askWords(view: View): WordsAsked {
  const { search, subject, ruling, isHarmless, isAlone, order, isDescending } = view;
  return {
    search: search.trim().toLowerCase(),
    subject,
    ruling,
    looks_harmless: isHarmless,
    has_sole: isAlone,
    sort: order,
    is_descending: isDescending,
  };
}

export function isWord(text: string): boolean {
  return /^[a-z]{2,100}$/.test(text);
}

function readKey<Key extends string>(written: string | null, known: Record<Key, unknown>): Key | null {
  return written !== null && Object.hasOwn(known, written) ? (written as Key) : null;
}
