// What a marked place says when it is pointed at.
import { describeRule } from "@/words/signals";
import { describeStage } from "@/words/terms";
import type { Span } from "./segments";

/** From these ages on a hard word is a shade darker. */
const SHADES = [9, 11, 13, 15] as const;

/** 1, learned early, to 5, learned late. */
export function chooseShade(age: number | null): number {
  return 1 + SHADES.filter((from) => (age ?? 0) >= from).length;
}

export function describeSpan({ kind, name, value, stage }: Span): string {
  switch (kind) {
    case "hard_word":
      return `Hard word: ${name}${value === null ? "" : `, learned at about ${value.toFixed(1)} years`}`;
    case "unknown_word":
      return `Unknown word: ${name}, its age is in no table`;
    case "term":
      return value !== null && Number.isFinite(value)
        ? `Beyond grade 5: ${name}, ${value.toFixed(1)} points`
        : `Beyond grade 5: ${name}`;
    case "notation":
      return `Advanced notation: ${describeRule(name).toLowerCase()}`;
    case "window":
      return `Hardest passage for the ${describeStage(stage).label.toLowerCase()}${
        value === null ? "" : `: grades K-5 are ${(100 * value).toFixed(1)} % likely`
      }`;
  }
}
