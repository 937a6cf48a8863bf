import { describe, expect, it } from "vitest";
import { countCharacters, readTextFile } from "./text-file";

describe("a file to try", () => {
  it("is a text in UTF-8, without its mark", async () => {
    expect(await readTextFile(new Blob(["\ufeffdas Ü 😀"]))).toEqual({ text: "das Ü 😀" });
  });

  it("is refused where it is something else", async () => {
    expect(await readTextFile(new Blob([new Uint8Array([0xff, 0xfe, 0x41])]))).toEqual({
      problem: "The file is not a text in UTF-8.",
    });
    expect(await readTextFile(new Blob(["PK\u0003\u0004\u0000"]))).toEqual({ problem: "The file is not a text." });
    expect(await readTextFile(new File(["x".repeat(4_000_001)], "a.txt"))).toEqual({
      problem: "a.txt is larger than 4 MB: try a part of it.",
    });
  });

  it("is counted in characters", () => {
    expect(countCharacters("a😀b")).toBe(3);
    expect(countCharacters("\ud83d")).toBe(1);
    expect(countCharacters("")).toBe(0);
  });
});
