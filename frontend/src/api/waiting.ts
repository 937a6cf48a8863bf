// Questions about a run whose index is still being built: the service says "not yet", and is asked again until it is there.
import { ProblemError, UnreachableError } from "./problem";

const ASK_AGAIN_MS = 2_000;
const SILENCE_MS = 500;
const MOST_SILENCES = 5;

export function isBeingBuilt(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 503;
}

/** Options of a query that waits. While it does, its `failureReason` is the refusal. */
export const untilBuilt = {
  retry: (count: number, error: unknown) =>
    isBeingBuilt(error) || (error instanceof UnreachableError && count < MOST_SILENCES),
  retryDelay: (_count: number, error: unknown) => (isBeingBuilt(error) ? ASK_AGAIN_MS : SILENCE_MS),
};
