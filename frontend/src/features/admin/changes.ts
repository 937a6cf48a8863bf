// What an entry of the audit log changed, as lines that people read.

type State = Record<string, unknown> | null;

const MOST_CHARS = 80;

// Names that say little to who did not write the service.
const NAMES: Record<string, string> = {
  allows_private: "private addresses",
  control_match: "control",
  has_encoder: "careful grader",
  limit: "first documents",
  locations: "places",
  prefix: "place",
  shard_bytes: "bytes of a file",
  shard_sha256: "file",
  slice_bytes: "bytes of a part",
  text_field: "column with the text",
};

// Whatever is named after them later.
const WORDS: Record<string, string> = { shard: "file", shards: "files", slice: "part", slices: "parts" };

export function describeChanges(before: State, after: State): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .flatMap((name) => {
      const [from, to] = [show(before?.[name]), show(after?.[name])];
      if (from === to) return [];
      const label = describeName(name);
      return from === "" ? [`${label}: ${to}`] : [`${label}: ${from} → ${to || "nothing"}`];
    })
    .join("\n");
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string" || typeof value === "number") return cut(String(value));
  if (Array.isArray(value)) return cut(value.map(show).join(", "));
  const parts = Object.entries(value)
    .filter(([, inner]) => inner !== null)
    .map(([name, inner]) => `${describeName(name)} ${show(inner)}`);
  return parts.join(", ");
}

function describeName(name: string): string {
  const words = name.replace(/^is_/, "").split("_");
  return NAMES[name] ?? words.map((word) => WORDS[word] ?? word).join(" ");
}

function cut(text: string): string {
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text;
}
