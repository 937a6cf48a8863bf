// What somebody may mean who writes something into the query bar.
import type { DocumentQuery, Range } from "@/api/documents";
import { describeSignal, SIGNALS } from "@/words/signals";
import { describeRange } from "./conditions";

export interface Suggestion {
  id: string;
  label: string;
  /** What is asked in addition; undefined: nothing yet, `text` is written instead. */
  condition?: DocumentQuery;
  text?: string;
}

const NUMBER = String.raw`(\d+(?:[.,]\d+)?)\s*(%?)`;
const ASKED = new RegExp(String.raw`^(.*?)\s*(>=|<=|>|<|=|:)?\s*${NUMBER}(?:\s*(?:\.\.|-|to)\s*${NUMBER})?$`, "i");
const MOST = 8;

export function suggest(written: string): Suggestion[] {
  const text = written.trim();
  if (text === "") return [];
  return [...readNumbers(text), ...nameSignals(text), ...readPlaces(text)].slice(0, MOST);
}

/** Numbers whose name begins so: the rest of the condition is still to be written. */
function nameSignals(text: string): Suggestion[] {
  return findSignals(text).map((column) => ({
    id: `name:${column}`,
    label: `${describeSignal(column).label}: at least or under …`,
    text: `${describeSignal(column).word} > `,
  }));
}

function findSignals(text: string): string[] {
  const sought = text.toLowerCase();
  return SIGNALS.filter((column) => {
    const { label, word } = describeSignal(column);
    return (
      `${label} ${word}`
        .toLowerCase()
        .split(/[\s,:]+/)
        .some((part) => part.startsWith(sought)) || word.startsWith(sought)
    );
  });
}

function readNumbers(text: string): Suggestion[] {
  const match = ASKED.exec(text);
  if (!match) return [];
  const [, name = "", sign = "", first = "", isPercent = "", second, isSecondPercent = ""] = match;
  if (name === "") return [];
  return findSignals(name).flatMap((column) => {
    const low = readValue(column, first, isPercent);
    if (second !== undefined) return [asRange({ column, low, high: readValue(column, second, isSecondPercent) })];
    const above = asRange({ column, low, high: null });
    const below = asRange({ column, low: null, high: low });
    if (sign.startsWith(">")) return [above];
    if (sign.startsWith("<")) return [below];
    return [above, below];
  });
}

/** Shares may be written in per cent. */
function readValue(column: string, written: string, isPercent: string): number {
  const value = Number(written.replace(",", "."));
  const isShare = describeSignal(column).unit === "share";
  return isPercent || (isShare && value > 1) ? value / 100 : value;
}

function asRange(range: Omit<Range, "is_missing">): Suggestion {
  const whole: Range = { ...range, is_missing: false };
  return {
    id: `range:${range.column}:${range.low}:${range.high}`,
    label: describeRange(whole),
    condition: { ranges: [whole] },
  };
}

function readPlaces(text: string): Suggestion[] {
  const found: Suggestion[] = [];
  const host = readHost(text);
  if (host) {
    found.push({ id: "site", label: `Site: ${host}`, condition: { domain: host, has_subdomains: false } });
    found.push({ id: "below", label: `Site: ${host} and below`, condition: { domain: host, has_subdomains: true } });
  }
  if (/^https?:\/\//i.test(text)) found.push({ id: "url", label: `Address: ${text}`, condition: { url: text } });
  else
    found.push({ id: "word", label: `Has the word “${text.toLowerCase()}”`, condition: { term: text.toLowerCase() } });
  found.push({ id: "id", label: `Id: ${text}`, condition: { doc_id: text } });
  return found;
}

function readHost(text: string): string | undefined {
  const [, host] = /^(?:https?:\/\/)?([\p{L}\p{N}.-]+\.[\p{L}\p{N}-]{2,})(?::\d+)?(?:\/.*)?$/iu.exec(text) ?? [];
  return host?.toLowerCase();
}

/** A query with one more condition; of those that can be asked once the new one takes the place of the old. */
export function addCondition(query: DocumentQuery, { ranges, bands, ...condition }: DocumentQuery): DocumentQuery {
  return {
    ...query,
    ...condition,
    ranges: [...(query.ranges ?? []), ...(ranges ?? [])],
    bands: [...(query.bands ?? []), ...(bands ?? [])],
  };
}
