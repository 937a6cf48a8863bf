// Numbers as people read them: with a unit, rounded to what can be taken in. The exact value belongs into a title.
const COUNT = new Intl.NumberFormat("en");
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** Whole below 100,000, else like 1.23M. */
export function formatShortCount(count: number): string {
  return Math.abs(count) < 100_000 ? COUNT.format(count) : COMPACT.format(count);
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `part` of `whole` in per cent; an em dash of nothing. What is not nothing never reads 0 %, what is not all never 100 %. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return "–";
  if (part === 0) return "0 %";
  if (part === whole) return "100 %";
  const percent = (100 * part) / whole;
  if (percent < 0.1) return "< 0.1 %";
  if (percent > 99.9) return "> 99.9 %";
  return `${percent.toFixed(percent < 10 || percent > 90 ? 1 : 0)} %`;
}

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const shown = unit === 0 ? formatCount(value) : value.toFixed(value < 10 ? 1 : 0);
  return `${shown} ${unit === 0 && bytes === 1 ? "byte" : (UNITS[unit] ?? "")}`;
}

/** The two largest units: "3 h 20 min". */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return "under 1 s";
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return join([Math.floor(whole / 60), "min"], [whole % 60, "s"]);
  const minutes = Math.round(whole / 60);
  if (minutes < 1_440) return join([Math.floor(minutes / 60), "h"], [minutes % 60, "min"]);
  const hours = Math.round(minutes / 60);
  return join([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

function join(...parts: [number, string][]): string {
  return parts
    .filter(([value], place) => value > 0 || place === 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

export function formatRate(perSecond: number): string {
  if (perSecond >= 10) return `${formatShortCount(Math.round(perSecond))} a second`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)} a second`;
  return `${Math.max(1, Math.round(perSecond * 60))} a minute`;
}

const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

export function formatMoment(moment: string): string {
  return MOMENT.format(new Date(moment));
}

export function formatExactMoment(moment: string): string {
  return EXACT.format(new Date(moment));
}

/** How long ago, to the unit that matters. */
export function formatAgo(moment: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1_000);
  if (seconds < 45) return "just now";
  if (seconds < 5_400) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h ago`;
  if (seconds < 30 * 86_400) return `${Math.round(seconds / 86_400)} days ago`;
  return formatMoment(moment);
}

/** Seconds between two moments. */
export function secondsBetween(from: string, to: string): number {
  return Math.max(0, (Date.parse(to) - Date.parse(from)) / 1_000);
}
