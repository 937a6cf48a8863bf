// What a job is likely to read, take and keep, judged by the source's counts, a trial, and jobs that came before.
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
}

/** What a trial of all documents within the limit found. */
export interface TrialFound {
  documents: number | null;
  tokens_kept: number | null;
  seconds: number | null;
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

/** Of a share of what was tried. */
export function estimateTokens(found: TrialFound, share: number | null): number | null {
  return found.tokens_kept === null ? null : Math.round(found.tokens_kept * (share ?? 1));
}

/** By the trial's speed; where no worker answers, or nobody knows how much there is, by that of earlier jobs. */
export function estimateSeconds(
  found: TrialFound,
  documents: number | null,
  past: readonly PastJob[],
  { sample_share, has_encoder }: { sample_share?: number | null; has_encoder: boolean },
): number | null {
  if (found.seconds !== null) return found.seconds * (sample_share ?? 1);
  const rate = estimateRate(past, has_encoder);
  return documents === null || rate === null ? null : documents / rate;
}

/** To three digits: an estimate knows no more. */
export function roundRoughly(count: number): number {
  return Number(count.toPrecision(3));
}
