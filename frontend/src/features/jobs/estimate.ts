// What a job is likely to read, take and keep, judged by the source's counts and by jobs that came before.
import { secondsBetween } from "@/words/numbers";

export interface PastJob {
  documents_done: number;
  started_at: string | null;
  finished_at: string | null;
  options: { has_encoder: boolean };
}

export interface Plan {
  /** Documents of the source; null where nobody knows before reading. */
  rowCount: number | null;
  limit: number | null;
  share: number | null;
  hasEncoder: boolean;
}

const MOST_PAST = 5;

export function estimateDocuments({ rowCount, limit, share }: Plan): number | null {
  const sampled = rowCount === null ? null : Math.round(rowCount * (share ?? 1));
  if (limit === null) return sampled;
  return sampled === null ? limit : Math.min(limit, sampled);
}

/** Documents a second: the median of past jobs of the same kind, the newest first; null without any. */
export function estimateRate(past: readonly PastJob[], hasEncoder: boolean): number | null {
  const rates = past
    .filter((job) => job.options.has_encoder === hasEncoder && job.documents_done > 0)
    .slice(0, MOST_PAST)
    .flatMap(({ documents_done, started_at, finished_at }) => {
      const seconds = started_at && finished_at ? secondsBetween(started_at, finished_at) : 0;
      return seconds > 0 ? [documents_done / seconds] : [];
    })
    .sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? null;
}
