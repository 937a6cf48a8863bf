import { describe, expect, it } from "vitest";
import { createReader, type Keystroke } from "./shortcuts";

function stroke(key: string, at: number, more: Partial<Keystroke> = {}): Keystroke {
  return { key, at, ctrlKey: false, metaKey: false, altKey: false, isWriting: false, ...more };
}

describe("shortcuts", () => {
  it("goes by g and a letter, if the letter comes soon", () => {
    const read = createReader();
    expect(read(stroke("g", 0))).toBeUndefined();
    expect(read(stroke("j", 900))).toEqual({ kind: "go", letter: "j" });
    expect(read(stroke("j", 1_000))).toBeUndefined();
    read(stroke("g", 2_000));
    expect(read(stroke("j", 3_501))).toBeUndefined();
  });

  it("takes g twice for the letter g", () => {
    const read = createReader();
    read(stroke("g", 0));
    expect(read(stroke("g", 100))).toEqual({ kind: "go", letter: "g" });
  });

  it("means nothing while somebody writes or holds another key", () => {
    const read = createReader();
    expect(read(stroke("?", 0, { isWriting: true }))).toBeUndefined();
    expect(read(stroke("?", 0))).toEqual({ kind: "help" });
    read(stroke("g", 0));
    expect(read(stroke("j", 10, { ctrlKey: true }))).toBeUndefined();
    expect(read(stroke("j", 20))).toBeUndefined();
  });
});
