// A file as a text to try. What is no text is refused here: its bytes would be measured as letters.

const MOST_BYTES = 4_000_000;

export type Read = { text: string } | { problem: string };

export async function readTextFile(file: Blob & { name?: string }): Promise<Read> {
  const name = file.name ?? "The file";
  if (file.size > MOST_BYTES) return { problem: `${name} is larger than 4 MB: try a part of it.` };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\u0000") ? { problem: `${name} is not a text.` } : { text };
  } catch {
    return { problem: `${name} is not a text in UTF-8.` };
  }
}

/** As the service counts: a character of two units is one. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let unit = 0; unit < text.length - 1; unit += 1) {
    const isPair = (text.charCodeAt(unit) & 0xfc00) === 0xd800 && (text.charCodeAt(unit + 1) & 0xfc00) === 0xdc00;
    if (isPair) {
      count -= 1;
      unit += 1;
    }
  }
  return count;
}
