import { describe, expect, it } from "vitest";
import { cutBlocks, findBlock } from "./blocks";

const blocksOf = (text: string) => {
  const cuts = cutBlocks(text);
  return cuts.slice(1).map((end, place) => text.slice(cuts[place], end));
};

describe("a text in blocks", () => {
  it.each([
    ["", 0],
    ["short", 1],
    ["line\n".repeat(100), 3],
    ["word ".repeat(4_000), 5],
    ["x".repeat(5_000_000), 1_250],
    ["\n".repeat(1_000), 25],
  ])("is all there, in few enough", (text, count) => {
    const blocks = blocksOf(text);
    expect(blocks.join("") === text).toBe(true);
    expect(blocks).toHaveLength(count);
    expect(Math.max(0, ...blocks.map((block) => block.length))).toBeLessThanOrEqual(4_000);
  });

  it("is cut after lines, else after words", () => {
    expect(blocksOf(`${"a".repeat(3_000)}\n${"b".repeat(3_000)}`).map((block) => block.length)).toEqual([3_001, 3_000]);
    expect(blocksOf("nine char ".repeat(500))[0]).toHaveLength(4_000);
  });

  it("is never cut within a character, nor before a mark upon one", () => {
    const halves = blocksOf(`a${"😀".repeat(3_000)}`);
    expect(halves.every((block) => !/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(block))).toBe(true);
    const marked = blocksOf("e\u0301".repeat(2_001).padStart(4_003, "x"));
    expect(marked[1]?.startsWith("\u0301")).toBe(false);
    expect(blocksOf("\u0301".repeat(9_000)).join("")).toHaveLength(9_000);
  });

  it("is found by place", () => {
    const cuts = [0, 10, 20, 25];
    expect([0, 9, 10, 24, 25, 99].map((place) => findBlock(cuts, place))).toEqual([0, 0, 1, 2, 2, 2]);
  });
});
