// What went wrong, in the service's own words: problem details (RFC 9457) as an error.
import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];

export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
  }

  get status(): number {
    return this.problem.status;
  }
}

/** The service gave no answer. What was asked may have been done or not. */
export class UnreachableError extends Error {
  constructor() {
    super("The service does not answer.");
    this.name = "UnreachableError";
  }
}

/** An answer's body as a problem, whatever it is: a proxy in between has pages of its own. */
export function readProblem(body: unknown, status: number): Problem {
  const given: Partial<Problem> = typeof body === "object" && body !== null ? body : {};
  return {
    type: given.type ?? "about:blank",
    title: given.title ?? "Error",
    status,
    detail: typeof given.detail === "string" && given.detail ? given.detail : `The service answered with ${status}.`,
    hint: typeof given.hint === "string" ? given.hint : "",
    errors: Array.isArray(given.errors) ? given.errors : [],
  };
}

export interface Explanation {
  detail: string;
  hint: string;
  errors: { where: string; message: string }[];
}

/** What a person reads of an error. */
export function explainError(error: unknown): Explanation {
  if (error instanceof ProblemError) {
    const errors = error.problem.errors.map((entry) => ({
      where: (entry.where ?? "").replace(/^(body|query|path)\.?/, ""),
      message: entry.message ?? "",
    }));
    return { detail: error.problem.detail, hint: error.problem.hint, errors };
  }
  if (error instanceof UnreachableError) {
    return {
      detail: error.message,
      hint: "It may or may not have done what was asked: look before you try again.",
      errors: [],
    };
  }
  return { detail: "Something went wrong on this page.", hint: "Load it again.", errors: [] };
}
