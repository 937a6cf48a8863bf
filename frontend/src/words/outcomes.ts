// What was decided of a document, in one word and a colour.
import type { Decision } from "@/api/documents";
import type { StateTerm } from "./terms";

export type Outcome = "kept" | "excluded" | "undecided";

export const OUTCOMES: Record<Outcome, StateTerm> = {
  kept: { label: "Kept", tone: "good", meaning: "Goes into the curriculum." },
  excluded: { label: "Excluded", tone: "bad", meaning: "Does not go into the curriculum." },
  undecided: { label: "Undecided", tone: "warning", meaning: "A measurement that decides is missing." },
};

export function outcomeOf({ kept }: Pick<Decision, "kept">): Outcome {
  if (kept === null) return "undecided";
  return kept ? "kept" : "excluded";
}

export function describeOutcome(decision: Pick<Decision, "kept">): StateTerm {
  return OUTCOMES[outcomeOf(decision)];
}
