import { describe, expect, it } from "vitest";
import { DEFAULT_CHOICES, readChoices } from "./choices";

describe("choices of a job", () => {
  it("are everything by default", () => {
    const { options, problem } = readChoices(DEFAULT_CHOICES);
    expect(problem).toBeNull();
    expect(options).toMatchObject({
      limit: null,
      sample_share: null,
      has_encoder: true,
      token_budget: null,
      validation_share: 0,
    });
  });

  it("take one amount and leave the others out", () => {
    expect(readChoices({ ...DEFAULT_CHOICES, amount: "trial" }).options).toMatchObject({
      limit: null,
      sample_share: 0.01,
    });
    expect(readChoices({ ...DEFAULT_CHOICES, amount: "share", percent: "2.5" }).options).toMatchObject({
      sample_share: 0.025,
    });
    expect(readChoices({ ...DEFAULT_CHOICES, amount: "first", first: "50" }).options).toMatchObject({
      limit: 50,
      sample_share: null,
    });
  });

  it("name the field that is wrong, and only where it counts", () => {
    expect(readChoices({ ...DEFAULT_CHOICES, amount: "share", percent: "100" })).toEqual({
      options: null,
      problem: { percent: "Give a number between 0 and 100." },
    });
    expect(readChoices({ ...DEFAULT_CHOICES, amount: "all", percent: "nonsense" }).problem).toBeNull();
    expect(readChoices({ ...DEFAULT_CHOICES, budget: "1.5", validation: "" }).problem).toEqual({
      budget: "Give a whole number above 0, or nothing.",
    });
  });
});
