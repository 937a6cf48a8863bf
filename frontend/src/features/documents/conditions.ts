// A query in words, condition by condition, each with the query that is left without it.
import type { DocumentQuery, Range } from "@/api/documents";
import { OUTCOMES } from "@/words/outcomes";
import { BANDS, describeRule, describeSignal, formatSignal, READINGS } from "@/words/signals";
import { describeStage } from "@/words/terms";

export interface Condition {
  key: string;
  label: string;
  /** The query without the condition. */
  rest: DocumentQuery;
}

const RULINGS = { keep: "Kept by a person", exclude: "Ruled out by a person", any: "Ruled on by a person" } as const;

export function listConditions(query: DocumentQuery): Condition[] {
  const found: Condition[] = [];
  const add = (key: string, label: string, rest: DocumentQuery) => found.push({ key, label, rest });
  const stage = (name: string) => describeStage(name).label;
  if (query.outcome) add("outcome", OUTCOMES[query.outcome].label, { ...query, outcome: null });
  if (query.decided_by) add("by", `First cause: ${stage(query.decided_by)}`, { ...query, decided_by: null });
  if (query.excluded_by) {
    const only = query.sole === "certain" ? "Only cause" : query.sole === "possible" ? "Only known cause" : "A cause";
    add("cause", `${only}: ${stage(query.excluded_by)}`, { ...query, excluded_by: null, sole: null });
  }
  if (query.undecided_for)
    add("waiting", `Not measured: ${stage(query.undecided_for)}`, { ...query, undecided_for: null });
  if (query.override) add("ruling", RULINGS[query.override], { ...query, override: null });
  if (typeof query.has_source_rule === "boolean") {
    const label = query.has_source_rule ? "Under a source rule" : "Under no source rule";
    add("barred", label, { ...query, has_source_rule: null });
  }
  if (typeof query.has_error === "boolean") {
    add("unreadable", query.has_error ? "Unreadable" : "Readable", { ...query, has_error: null });
  }
  if (query.rule) add("rule", `Notation: ${describeRule(query.rule)}`, { ...query, rule: null });
  if (query.term) add("word", `Has the word “${query.term}”`, { ...query, term: null });
  if (query.domain) {
    const label = query.has_subdomains ? `Site: ${query.domain} and below` : `Site: ${query.domain}`;
    add("site", label, { ...query, domain: null, has_subdomains: false });
  }
  if (query.shard) add("file", `File: ${query.shard}`, { ...query, shard: null });
  if (query.url) add("url", `Address: ${query.url}`, { ...query, url: null });
  if (query.doc_id) add("id", `Id: ${query.doc_id}`, { ...query, doc_id: null });
  (query.bands ?? []).forEach(({ reading, band }, place) => {
    const label = `${READINGS[reading].label}: ${BANDS[band].label}`;
    add(`grade${place}`, label, { ...query, bands: query.bands?.filter((_, other) => other !== place) });
  });
  (query.ranges ?? []).forEach((range, place) => {
    add(`range${place}`, describeRange(range), {
      ...query,
      ranges: query.ranges?.filter((_, other) => other !== place),
    });
  });
  return found;
}

/** "Length: at least 100 tokens, under 500 tokens". */
export function describeRange({ column, low, high, is_missing }: Range): string {
  const { label, unit } = describeSignal(column);
  if (is_missing) return `${label}: not measured`;
  const bounds = [
    typeof low === "number" ? `at least ${formatSignal(unit, low)}` : "",
    typeof high === "number" ? `under ${formatSignal(unit, high)}` : "",
  ];
  return `${label}: ${bounds.filter(Boolean).join(", ")}`;
}
