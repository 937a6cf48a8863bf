// Places of evidence overlap: a hard word lies in the window that decided, and may be a word beyond grade 5 as well. They are
// cut into segments, each with all that is said of it, and these into what one block of the text shows.
import type { Explanation } from "@/api/documents";
import { createUnitFinder } from "./code-points";

export const KINDS = ["hard_word", "unknown_word", "term", "notation", "window"] as const;
export type Kind = (typeof KINDS)[number];

/** A place in units of the text. `id` counts in the order of the explanation. */
export interface Span {
  id: number;
  stage: string;
  kind: Kind;
  name: string;
  start: number;
  end: number;
  value: number | null;
}

export interface Segment {
  start: number;
  end: number;
  spans: readonly Span[];
}

/** The evidence of every stage; of kinds that are not known here nothing is shown. */
export function listSpans(explanation: Explanation): Span[] {
  const find = createUnitFinder(explanation.text);
  return explanation.stages
    .flatMap(({ stage, evidence }) => evidence.map((place) => ({ ...place, stage })))
    .filter((place) => isKind(place.kind))
    .map(({ stage, kind, name, start, end, value }, id) => ({
      id,
      stage,
      kind: kind as Kind,
      name,
      start: find(start),
      end: find(end),
      value,
    }))
    .filter(({ start, end }) => start < end);
}

function isKind(kind: string): kind is Kind {
  return (KINDS as readonly string[]).includes(kind);
}

/** Where anything is said: segments that do not overlap, ascending. */
export function cutSegments(spans: readonly Span[]): Segment[] {
  const starting = [...spans].sort((a, b) => a.start - b.start);
  const cuts = [...new Set(spans.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const segments: Segment[] = [];
  let active: Span[] = [];
  let next = 0;
  for (const [place, start] of cuts.entries()) {
    active = active.filter(({ end }) => end > start);
    for (let span = starting[next]; span && span.start <= start; span = starting[next]) {
      active.push(span);
      next += 1;
    }
    const end = cuts[place + 1];
    if (end !== undefined && active.length > 0) {
      segments.push({ start, end, spans: [...active].sort((a, b) => a.id - b.id) });
    }
  }
  return segments;
}

/** All of `from` to `to`, piece by piece, with what is said of each. */
export function slicePieces(segments: readonly Segment[], from: number, to: number): Segment[] {
  const pieces: Segment[] = [];
  let at = from;
  for (let place = findFirst(segments, from); at < to; place += 1) {
    const segment = segments[place];
    const start = Math.min(to, Math.max(at, segment?.start ?? to));
    if (start > at) pieces.push({ start: at, end: start, spans: [] });
    at = start;
    if (!segment || at >= to) break;
    const end = Math.min(to, segment.end);
    pieces.push({ start: at, end, spans: segment.spans });
    at = end;
  }
  return pieces;
}

/** The first segment that ends after a place. */
function findFirst(segments: readonly Segment[], place: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.end ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}
