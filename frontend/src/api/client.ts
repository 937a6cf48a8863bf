// The API as it describes itself, with its types. `unwrap` turns an answer into its data or throws the problem.
import createClient from "openapi-fetch";
import { guardedFetch } from "./guarded-fetch";
import { ProblemError, readProblem } from "./problem";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

// The address is written out: requests are made before they are sent, which needs a whole one.
export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "", fetch: guardedFetch });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

export async function unwrap<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) throw new ProblemError(readProblem(error, response.status));
  return data as T;
}

/** The same with the answer's ETag, which a change names as what its author has seen. */
export async function unwrapTagged<T>(asked: Promise<Answer<T>>): Promise<{ data: T; etag: string }> {
  const answer = await asked;
  const data = await unwrap(Promise.resolve(answer));
  return { data, etag: answer.response.headers.get("ETag") ?? "" };
}

/** All items of a list, page after page, up to `most`. */
export async function readAll<T>(
  readPage: (cursor: string | undefined) => Promise<{ items: T[]; next?: string | null }>,
  most: number,
): Promise<{ items: T[]; isWhole: boolean }> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await readPage(cursor);
    items.push(...page.items);
    if (!page.next) return { items, isWhole: true };
    if (items.length >= most) return { items, isWhole: false };
    cursor = page.next;
  }
}
