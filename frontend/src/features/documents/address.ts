// What the page shows, as its address says it: the whole query, the order, the document that is read. A link is a place.
import type { Band, DocumentQuery, Range, Reading, Sort } from "@/api/documents";
import { BANDS, describeSignal, READINGS, SIGNALS } from "@/words/signals";
import { readId } from "@/words/ids";

export interface View {
  query: DocumentQuery;
  sort: Sort;
  /** The document that is read, by its position in the run. */
  at: number | null;
  /** The profile version that decides; null: the job's own. */
  profileId: number | null;
  /** The vocabulary version that decides; null: the job's own. */
  vocabularyId: number | null;
}

const TEXTS = {
  by: "decided_by",
  cause: "excluded_by",
  waiting: "undecided_for",
  rule: "rule",
  word: "term",
  site: "domain",
  file: "shard",
  url: "url",
  id: "doc_id",
} as const;

const CHOICES = {
  outcome: ["outcome", ["kept", "excluded", "undecided"]],
  alone: ["sole", ["certain", "possible"]],
  ruling: ["override", ["keep", "exclude", "any"]],
} as const;

const YES_NO = { below: "has_subdomains", barred: "has_source_rule", unreadable: "has_error" } as const;

export function writeView({ query, sort, at, profileId, vocabularyId }: View): URLSearchParams {
  const address = new URLSearchParams();
  for (const [key, [field]] of Object.entries(CHOICES)) {
    if (query[field]) address.set(key, query[field]);
  }
  for (const [key, field] of Object.entries(TEXTS)) {
    if (query[field]) address.set(key, query[field]);
  }
  for (const [key, field] of Object.entries(YES_NO)) {
    if (query[field] === true) address.set(key, "yes");
    else if (query[field] === false && field !== "has_subdomains") address.set(key, "no");
  }
  for (const { reading, band } of query.bands ?? []) address.append("grade", `${reading}:${band}`);
  for (const range of query.ranges ?? []) address.append("range", `${range.column}:${writeRange(range)}`);
  if (sort.column) address.set("sort", `${sort.is_descending ? "-" : ""}${sort.column}`);
  if (profileId !== null) address.set("profile", String(profileId));
  if (vocabularyId !== null) address.set("words", String(vocabularyId));
  if (at !== null) address.set("at", String(at));
  return address;
}

/** What an address asks; parts of it that mean nothing are passed over. */
export function readView(address: URLSearchParams): View {
  const query: DocumentQuery = {};
  for (const [key, [field, choices]] of Object.entries(CHOICES)) {
    const value = address.get(key);
    if (value !== null && (choices as readonly string[]).includes(value)) Object.assign(query, { [field]: value });
  }
  for (const [key, field] of Object.entries(TEXTS)) {
    const value = address.get(key);
    if (value) query[field] = value;
  }
  if (query.sole && !query.excluded_by) delete query.sole;
  for (const [key, field] of Object.entries(YES_NO)) {
    const value = address.get(key);
    if (value === "yes") query[field] = true;
    else if (value === "no" && field !== "has_subdomains") query[field] = false;
  }
  const bands = address.getAll("grade").flatMap(readBand);
  if (bands.length > 0) query.bands = bands;
  const ranges = address.getAll("range").flatMap(readRange);
  if (ranges.length > 0) query.ranges = ranges;
  return {
    query,
    sort: readSort(address.get("sort")),
    at: readId(address.get("at")),
    profileId: readId(address.get("profile")),
    vocabularyId: readId(address.get("words")),
  };
}

function writeRange({ low, high, is_missing }: Range): string {
  return is_missing ? "none" : `${low ?? ""}..${high ?? ""}`;
}

function readRange(written: string): Range[] {
  const [, column = "", value = ""] = /^([a-z0-9_]+):(.*)$/.exec(written) ?? [];
  if (!isColumn(column)) return [];
  if (value === "none") return [{ column, low: null, high: null, is_missing: true }];
  const [low, high] = value.split("..").map((bound) => (bound === "" ? null : Number(bound)));
  if (low === undefined || high === undefined || (low === null && high === null)) return [];
  if (Number.isNaN(low) || Number.isNaN(high)) return [];
  return [{ column, low, high, is_missing: false }];
}

function readBand(written: string): { reading: Reading; band: Band }[] {
  const [reading = "", band = ""] = written.split(":");
  return reading in READINGS && band in BANDS ? [{ reading: reading as Reading, band: band as Band }] : [];
}

function readSort(written: string | null): Sort {
  const column = written?.replace(/^-/, "") ?? "";
  return isColumn(column) ? { column, is_descending: written?.startsWith("-") ?? false } : {};
}

function isColumn(column: string): boolean {
  return SIGNALS.includes(column) || describeSignal(column).unit === "chance";
}
