// A value and its threshold on one scale, in per cent of the bar's width.
import type { Distance } from "@/api/documents";
import type { Unit } from "@/words/signals";

export interface Bar {
  value: number;
  threshold: number;
}

/** Chances reach from 0 to 1, and from -1 where one leads another; other values as far as the greater needs. */
export function layBar({ name, value, threshold }: Distance, unit: Unit): Bar | null {
  if (value === null) return null;
  const [low, high] = chooseScale(name, value, threshold, unit);
  const place = (at: number) => Math.max(0, Math.min(100, (100 * (at - low)) / (high - low)));
  return { value: place(value), threshold: place(threshold) };
}

function chooseScale(name: string, value: number, threshold: number, unit: Unit): [number, number] {
  if (unit === "chance") return name.endsWith("_lead") ? [-1, 1] : [0, 1];
  const most = Math.max(value, threshold);
  return [0, most > 0 ? 1.25 * most : 1];
}

/** The distance that decides soonest: the one that fails most, or passes least, for its threshold. */
export function findNearest(distances: readonly Distance[]): Distance | undefined {
  const relative = ({ margin, threshold }: Distance) => (margin ?? Infinity) / (Math.abs(threshold) || 1);
  return distances
    .filter(({ margin }) => margin !== null)
    .reduce<Distance | undefined>(
      (nearest, one) => (!nearest || relative(one) < relative(nearest) ? one : nearest),
      undefined,
    );
}
