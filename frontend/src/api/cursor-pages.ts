// A long list of which only the pages in sight are held. The service gives pages one after the other, each with the place
// where the next begins; those places are kept, the pages are not.
import { useQueries, type QueryKey } from "@tanstack/react-query";
import { useState } from "react";
import { untilBuilt } from "./waiting";

const STAYS_MS = 5_000;

interface CursorPage<Row> {
  items: Row[];
  next: string | null;
  total: number;
}

export interface PageSource<Row> {
  queryKey: QueryKey;
  /** Rows of a page. */
  size: number;
  /** Undefined: from the first row on. */
  fetchPage: (cursor: string | undefined) => Promise<CursorPage<Row>>;
}

/** The rows that are looked at. */
export interface Sight {
  first: number;
  last: number;
}

export interface CursorPages<Row> {
  /** Undefined: not there yet. */
  total: number | undefined;
  /** Rows that can be scrolled to: those whose page has a known beginning. */
  reach: number;
  rowAt: (index: number) => Row | undefined;
  error: unknown;
  /** Why the first page waits. */
  failureReason: unknown;
  refetch: () => void;
}

/** Remount with another `key` for another list. A page is not asked for again by itself: a list must not move under who
 * reads it. It is asked for to its end even when it was scrolled past, for it says where the next one begins. */
export function useCursorPages<Row>(source: PageSource<Row>, sight: Sight): CursorPages<Row> {
  const { queryKey, size, fetchPage } = source;
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const [total, setTotal] = useState<number>();
  const firstPage = Math.min(Math.floor(sight.first / size), cursors.length - 1);
  const lastPage = Math.min(Math.floor(sight.last / size), cursors.length - 1);
  const answers = useQueries({
    queries: cursors.slice(firstPage, lastPage + 1).map((cursor) => ({
      queryKey: [...queryKey, cursor ?? ""],
      queryFn: () => fetchPage(cursor),
      staleTime: Infinity,
      gcTime: STAYS_MS,
      meta: { isSnapshot: true },
      ...untilBuilt,
    })),
  });

  const next = answers.at(-1)?.data?.next;
  if (next && lastPage === cursors.length - 1) setCursors([...cursors, next]);
  const counted = answers.find(({ data }) => data)?.data?.total;
  if (counted !== undefined && total === undefined) setTotal(counted);

  return {
    total,
    reach: Math.min(total ?? 0, cursors.length * size),
    rowAt: (index) => answers[Math.floor(index / size) - firstPage]?.data?.items[index % size],
    error: answers.find(({ error }) => error)?.error,
    failureReason: answers[0]?.failureReason,
    refetch: () => answers.forEach((answer) => void answer.refetch()),
  };
}
