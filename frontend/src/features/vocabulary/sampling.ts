// Sampling by score: how likely a text is let through, and what the page's address says of it.
import type { ProfileContent } from "@/api/documents";

export interface Sampling {
  /** Points of score that halve the chance. */
  halving: number;
  seed: number;
}

export const DEFAULT_SAMPLING: Sampling = { halving: 1, seed: 0 };
export const LEAST_HALVING = 0.05;
export const MOST_HALVING = 100;
const MOST_SEED = 2 ** 31 - 1;

/** The chance of a text whose hardest word has a score, as the service draws it. */
export function findChance(score: number, minScore: number, halving: number): number {
  return 0.5 ** (Math.max(score - minScore, 0) / halving);
}

/** A number as it was typed; null where it is none that may be asked. */
export function readHalving(typed: string): number | null {
  const value = Number(typed);
  return typed.trim() !== "" && value >= LEAST_HALVING && value <= MOST_HALVING ? value : null;
}

export function readSeed(typed: string): number | null {
  return /^\d{1,10}$/.test(typed.trim()) && Number(typed) <= MOST_SEED ? Number(typed) : null;
}

export function readSampling(address: URLSearchParams, own: Sampling): Sampling {
  return {
    halving: readHalving(address.get("halving") ?? "") ?? own.halving,
    seed: readSeed(address.get("seed") ?? "") ?? own.seed,
  };
}

/** What a profile samples by: its own, else what the page begins with. */
export function findSampling({ vocabulary }: ProfileContent): Sampling {
  const sampling = vocabulary?.sampling;
  return sampling ? { halving: sampling.halving, seed: sampling.seed } : DEFAULT_SAMPLING;
}

/** The profile with its words sampled like that. */
export function applySampling(content: ProfileContent, sampling: Sampling): ProfileContent {
  if (!content.vocabulary) return content;
  return { ...content, vocabulary: { ...content.vocabulary, mode: "sample", sampling } };
}
