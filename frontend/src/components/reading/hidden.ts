// Characters that are not seen and change what is: the order of letters, the breaks between words, what a search finds. They
// are shown by name and never put into the page.

const NAMES: Record<number, [short: string, name: string]> = {
  0x00ad: ["SHY", "soft hyphen"],
  0x061c: ["ALM", "Arabic letter mark"],
  0x180e: ["MVS", "Mongolian vowel separator"],
  0x200b: ["ZWSP", "zero-width space"],
  0x200c: ["ZWNJ", "zero-width non-joiner"],
  0x200d: ["ZWJ", "zero-width joiner"],
  0x200e: ["LRM", "left-to-right mark"],
  0x200f: ["RLM", "right-to-left mark"],
  0x2028: ["LSEP", "line separator"],
  0x2029: ["PSEP", "paragraph separator"],
  0x202a: ["LRE", "left-to-right embedding"],
  0x202b: ["RLE", "right-to-left embedding"],
  0x202c: ["PDF", "end of an embedding or override"],
  0x202d: ["LRO", "left-to-right override"],
  0x202e: ["RLO", "right-to-left override"],
  0x2060: ["WJ", "word joiner"],
  0x2066: ["LRI", "left-to-right isolate"],
  0x2067: ["RLI", "right-to-left isolate"],
  0x2068: ["FSI", "first strong isolate"],
  0x2069: ["PDI", "end of an isolate"],
  0xfeff: ["BOM", "zero-width no-break space"],
};

const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

export interface Hidden {
  /** What is shown in its place. */
  short: string;
  meaning: string;
  count: number;
}

/** A text in parts: strings to be shown as they are, and hidden characters, the same ones in a row as one. */
export function splitHidden(text: string): (string | Hidden)[] {
  const parts: (string | Hidden)[] = [];
  let at = 0;
  let last = -1;
  for (const match of text.matchAll(HIDDEN)) {
    const code = match[0].codePointAt(0) ?? 0;
    if (match.index > at) parts.push(text.slice(at, match.index));
    const before = parts.at(-1);
    if (match.index === at && code === last && typeof before === "object") before.count += 1;
    else parts.push({ ...describeHidden(code), count: 1 });
    at = match.index + match[0].length;
    last = code;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

export function describeHidden(code: number): Pick<Hidden, "short" | "meaning"> {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const [short, name] = NAMES[code] ?? [number, code < 0xa0 ? "control character" : "hidden character"];
  return { short, meaning: `${name}, ${number}` };
}
