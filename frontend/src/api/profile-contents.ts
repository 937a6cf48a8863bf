// What profiles ask, and where two of them do not ask the same.
import type { ProfileContent } from "./documents";

/** A stored version's content: the service checked it when it was saved. */
export function asContent(content: Record<string, unknown>): ProfileContent {
  return content as unknown as ProfileContent;
}

export interface ContentDifference {
  path: string;
  before: unknown;
  after: unknown;
}

const UNSAID = new Set(["name", "version", "description"]);

/** Where two contents ask different things, by place. */
export function compareContents(before: ProfileContent, after: ProfileContent): ContentDifference[] {
  const [first, second] = [flatten(before), flatten(after)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter((path) => !UNSAID.has(path) && JSON.stringify(first.get(path)) !== JSON.stringify(second.get(path)))
    .map((path) => ({ path, before: first.get(path) ?? null, after: second.get(path) ?? null }));
}

function flatten(value: object, prefix = ""): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || inner === undefined) continue;
    if (typeof inner === "object" && !Array.isArray(inner)) {
      for (const [path, one] of flatten(inner as object, `${prefix}${key}.`)) found.set(path, one);
    } else found.set(prefix + key, inner);
  }
  return found;
}
