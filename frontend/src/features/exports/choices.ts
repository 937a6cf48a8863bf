// What a person chose for an export, as it stands in the fields, and as the service takes it.
import type { ExportChoices, ExportRequest } from "@/api/exports";

export type Rulings = "newest" | "none" | "upTo";

export interface Choices {
  rulings: Rulings;
  revision: string;
  holds: "both" | "control";
  controlMatch: ExportChoices["control_match"];
  controlSeed: string;
  fileSize: string;
  budget: string;
  validation: string;
  /** The largest share of documents, in per cent, that may mention a concept beyond grade 5; empty: nobody looks. */
  leaks: string;
  order: "source" | "mixed";
  orderSeed: string;
}

const MIB = 1 << 20;
const LEAST_BYTES = 1 << 16;
const MOST_MIB = 5 << 10;

export const DEFAULT_CHOICES: Choices = {
  rulings: "newest",
  revision: "",
  holds: "both",
  controlMatch: "tokens",
  controlSeed: "0",
  fileSize: "256",
  budget: "",
  validation: "0",
  leaks: "",
  order: "source",
  orderSeed: "0",
};

export type Problems = Partial<
  Record<"revision" | "controlSeed" | "fileSize" | "budget" | "validation" | "leaks" | "orderSeed", string>
>;

interface Read {
  options: Omit<ExportRequest, "base_job_id" | "profile_id"> | null;
  problem: Problems | null;
}

/** The choices as the service takes them, or what is wrong with which field. */
export function readChoices(choices: Choices): Read {
  const problem: Problems = {};
  const revision = readWhole(choices.revision);
  if (choices.rulings === "upTo" && !(revision > 0)) problem.revision = "Give a whole number above 0.";
  const controlSeed = readWhole(choices.controlSeed);
  if (Number.isNaN(controlSeed)) problem.controlSeed = "Give a whole number from 0 on.";
  const orderSeed = readWhole(choices.orderSeed);
  if (choices.order === "mixed" && Number.isNaN(orderSeed)) problem.orderSeed = "Give a whole number from 0 on.";
  const fileBytes = Math.round(readNumber(choices.fileSize) * MIB);
  if (!(fileBytes >= LEAST_BYTES && fileBytes <= MOST_MIB * MIB))
    problem.fileSize = `Give a number from ${LEAST_BYTES / MIB} to ${MOST_MIB}.`;
  const budget = choices.budget.trim() === "" ? null : readWhole(choices.budget);
  if (budget !== null && !(budget > 0)) problem.budget = "Give a whole number above 0, or nothing.";
  const validation = readNumber(choices.validation);
  if (!(validation >= 0 && validation < 100)) problem.validation = "Give a number from 0 to below 100.";
  const hasGate = choices.holds === "both" && choices.leaks.trim() !== "";
  const leaks = readNumber(choices.leaks);
  if (hasGate && !(leaks >= 0 && leaks < 100)) problem.leaks = "Give a number from 0 to below 100, or nothing.";
  if (Object.keys(problem).length > 0) return { options: null, problem };
  return {
    problem: null,
    options: {
      overrides_revision: readRevision(choices),
      vocabulary: "own",
      has_curriculum: choices.holds === "both",
      control_match: choices.controlMatch,
      control_seed: controlSeed,
      shard_bytes: fileBytes,
      token_budget: budget,
      validation_share: validation / 100,
      max_leak_share: hasGate ? leaks / 100 : null,
      shuffle_seed: choices.order === "mixed" ? orderSeed : null,
    },
  };
}

/** The number of the last ruling that counts; null: the newest. */
export function readRevision({ rulings, revision }: Choices): number | null {
  if (rulings === "none") return 0;
  const written = readWhole(revision);
  return rulings === "upTo" && written > 0 ? written : null;
}

function readNumber(text: string): number {
  return text.trim() === "" ? NaN : Number(text);
}

function readWhole(text: string): number {
  const value = readNumber(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : NaN;
}
