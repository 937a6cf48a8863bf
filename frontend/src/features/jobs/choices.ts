// What a person chose for a job, as it stands in the fields, and as the service takes it.
import type { JobOptions } from "@/api/jobs";

export type Amount = "all" | "trial" | "share" | "first";

export interface Choices {
  amount: Amount;
  percent: string;
  first: string;
  hasEncoder: boolean;
  controlMatch: JobOptions["control_match"];
  budget: string;
  validation: string;
}

export const DEFAULT_CHOICES: Choices = {
  amount: "all",
  percent: "10",
  first: "1000",
  hasEncoder: true,
  controlMatch: "tokens",
  budget: "",
  validation: "0",
};

const TRIAL_SHARE = 0.01;
const SLICE_BYTES = 32 << 20; // the service's own default

type Problems = Partial<Record<"percent" | "first" | "budget" | "validation", string>>;

/** The options, or what is wrong with which field. */
export function readChoices(choices: Choices): { options: JobOptions | null; problem: Problems | null } {
  const problem: Problems = {};
  const percent = Number(choices.percent);
  if (choices.amount === "share" && !(percent > 0 && percent < 100))
    problem.percent = "Give a number between 0 and 100.";
  const first = Number(choices.first);
  if (choices.amount === "first" && !(Number.isInteger(first) && first > 0))
    problem.first = "Give a whole number above 0.";
  const budget = choices.budget.trim() === "" ? null : Number(choices.budget);
  if (budget !== null && !(Number.isInteger(budget) && budget > 0))
    problem.budget = "Give a whole number above 0, or nothing.";
  const validation = Number(choices.validation);
  if (!(validation >= 0 && validation < 100)) problem.validation = "Give a number from 0 to below 100.";
  if (Object.keys(problem).length > 0) return { options: null, problem };
  return {
    problem: null,
    options: {
      limit: choices.amount === "first" ? first : null,
      sample_share: choices.amount === "trial" ? TRIAL_SHARE : choices.amount === "share" ? percent / 100 : null,
      sample_seed: 0,
      has_encoder: choices.hasEncoder,
      slice_bytes: SLICE_BYTES,
      token_budget: budget,
      validation_share: validation / 100,
      shuffle_seed: null,
      control_match: choices.controlMatch,
      control_seed: 0,
    },
  };
}
