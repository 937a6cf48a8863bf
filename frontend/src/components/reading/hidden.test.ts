import { describe, expect, it } from "vitest";
import { splitHidden } from "./hidden";

describe("characters that are not seen", () => {
  it("are taken out of the text and named", () => {
    expect(splitHidden("pay\u200bpal \u202egnp.exe")).toEqual([
      "pay",
      { short: "ZWSP", meaning: "zero-width space, U+200B", count: 1 },
      "pal ",
      { short: "RLO", meaning: "right-to-left override, U+202E", count: 1 },
      "gnp.exe",
    ]);
  });

  it("are one where the same ones follow each other", () => {
    expect(splitHidden("\u200b\u200b\u200b\u200c")).toEqual([
      { short: "ZWSP", meaning: "zero-width space, U+200B", count: 3 },
      { short: "ZWNJ", meaning: "zero-width non-joiner, U+200C", count: 1 },
    ]);
    expect(splitHidden("\u200ba\u200b")).toHaveLength(3);
  });

  it("are also control characters and tags that hide a message", () => {
    expect(splitHidden("a\u0000\u{e0041}")).toEqual([
      "a",
      { short: "U+0000", meaning: "control character, U+0000", count: 1 },
      { short: "U+E0041", meaning: "hidden character, U+E0041", count: 1 },
    ]);
  });

  it("are none of a plain text's, in any script", () => {
    const text = "Zeile eins\n\tשלום مرحبا 中文 😀 é";
    expect(splitHidden(text)).toEqual([text]);
    expect(splitHidden("")).toEqual([]);
  });
});
