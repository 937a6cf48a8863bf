// The data set card without what only machines read.

/** What follows the front matter, which stands between two lines of three dashes at the very beginning. */
export function withoutFrontMatter(card: string): string {
  return card.replace(/^---\r?\n(?:.*\r?\n)*?---[ \t]*(?:\r?\n|$)/, "").trimStart();
}
