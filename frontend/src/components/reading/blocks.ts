// A text in blocks, of which only those in sight are drawn: a book, or five megabytes in one line, costs what a page costs.

const MOST_UNITS = 4_000;
const MOST_LINES = 40;
const LONGEST_CLUSTER = 32; // marks upon marks are cut somewhere as well

/** Where the blocks begin, and last the end of the text. Cut after a line, else after a word, else between characters. */
export function cutBlocks(text: string): number[] {
  const cuts = [0];
  for (let at = 0; at < text.length;) {
    at = findCut(text, at);
    cuts.push(at);
  }
  return cuts;
}

function findCut(text: string, start: number): number {
  const limit = Math.min(text.length, start + MOST_UNITS);
  // Looked through apart: a search of the whole would go through all of a text without a line's end, block after block.
  const stretch = text.slice(start, limit);
  let lineEnd = 0;
  for (let lines = 0; lines < MOST_LINES; lines += 1) {
    const found = stretch.indexOf("\n", lineEnd);
    if (found < 0) break;
    lineEnd = found + 1;
    if (lines === MOST_LINES - 1) return start + lineEnd;
  }
  if (limit === text.length) return limit;
  const end = lineEnd || stretch.lastIndexOf(" ") + 1;
  if (end > 0) return start + end;
  for (let at = limit; at > limit - LONGEST_CLUSTER; at -= 1) {
    if (!isLow(text.charCodeAt(at)) && !/^[\p{M}\u200d]/u.test(text.slice(at, at + 2))) return at;
  }
  return isLow(text.charCodeAt(limit)) ? limit - 1 : limit;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The block that holds a place. */
export function findBlock(cuts: readonly number[], place: number): number {
  let low = 0;
  let high = cuts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((cuts[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
