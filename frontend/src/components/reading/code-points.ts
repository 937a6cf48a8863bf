// The service counts characters as Unicode does; strings here count UTF-16 units, of which an emoji or a rare Han character
// takes two. Every offset that comes from the service passes through here.

/** A function from an offset in characters to the offset in units of the same place. */
export function createUnitFinder(text: string): (characters: number) => number {
  const pairs = findPairs(text);
  if (pairs.length === 0) return (characters) => clamp(characters, text.length);
  return (characters) => clamp(characters + countBefore(pairs, characters), text.length);
}

/** Which characters of the text take two units, by their number; ascending. */
function findPairs(text: string): number[] {
  const pairs: number[] = [];
  if (!/[\ud800-\udbff]/.test(text)) return pairs;
  for (let unit = 0, character = 0; unit < text.length; unit += 1, character += 1) {
    if ((text.codePointAt(unit) ?? 0) > 0xffff) {
      pairs.push(character);
      unit += 1;
    }
  }
  return pairs;
}

function countBefore(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most));
}
