// A share that a person writes in per cent.

/** The share, null for nothing, undefined for what is no share from 0 to below 100 %. */
export function readPercent(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const percent = Number(text.replace(",", "."));
  return percent >= 0 && percent < 100 ? percent / 100 : undefined;
}
