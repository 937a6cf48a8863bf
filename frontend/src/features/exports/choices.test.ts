import { describe, expect, it } from "vitest";
import { DEFAULT_CHOICES, readChoices, readRevision } from "./choices";

describe("choices of an export", () => {
  it("are the service's own defaults", () => {
    expect(readChoices(DEFAULT_CHOICES)).toEqual({
      problem: null,
      options: {
        overrides_revision: null,
        vocabulary: "own",
        has_curriculum: true,
        control_match: "tokens",
        control_seed: 0,
        shard_bytes: 268_435_456,
        token_budget: null,
        validation_share: 0,
        max_leak_share: null,
        shuffle_seed: null,
      },
    });
  });

  it("say what was written", () => {
    const { options } = readChoices({
      rulings: "upTo",
      revision: "12",
      holds: "control",
      controlMatch: "tokens_length",
      controlSeed: "3",
      fileSize: "0.0625",
      budget: "5000",
      validation: "2.5",
      leaks: "x",
      order: "mixed",
      orderSeed: "7",
    });
    expect(options).toEqual({
      overrides_revision: 12,
      vocabulary: "own",
      has_curriculum: false,
      control_match: "tokens_length",
      control_seed: 3,
      shard_bytes: 65_536,
      token_budget: 5_000,
      validation_share: 0.025,
      max_leak_share: null,
      shuffle_seed: 7,
    });
  });

  it("name the field that is wrong, and only where it counts", () => {
    const wrong = {
      ...DEFAULT_CHOICES,
      fileSize: "0.01",
      budget: "1.5",
      validation: "",
      orderSeed: "x",
      revision: "x",
    };
    expect(readChoices(wrong)).toEqual({
      options: null,
      problem: {
        fileSize: "Give a number from 0.0625 to 5120.",
        budget: "Give a whole number above 0, or nothing.",
        validation: "Give a number from 0 to below 100.",
      },
    });
    expect(readChoices({ ...DEFAULT_CHOICES, rulings: "upTo", order: "mixed", orderSeed: "-1" }).problem).toEqual({
      revision: "Give a whole number above 0.",
      orderSeed: "Give a whole number from 0 on.",
    });
  });

  it("limit what may mention a concept, where there is a curriculum", () => {
    expect(readChoices({ ...DEFAULT_CHOICES, leaks: "0.05" }).options?.max_leak_share).toBe(0.0005);
    expect(readChoices({ ...DEFAULT_CHOICES, leaks: "100" }).problem).toEqual({
      leaks: "Give a number from 0 to below 100, or nothing.",
    });
  });

  it("take all rulings, none, or those up to one", () => {
    expect(readRevision(DEFAULT_CHOICES)).toBeNull();
    expect(readRevision({ ...DEFAULT_CHOICES, rulings: "none", revision: "4" })).toBe(0);
    expect(readRevision({ ...DEFAULT_CHOICES, rulings: "upTo", revision: "4" })).toBe(4);
  });
});
