import { describe, expect, it } from "vitest";
import type { Ruling } from "@/api/rulings";
import { findInForce, findOverruled } from "./ruling";

function ruling(revision: number, action: Ruling["action"], author: string): Ruling {
  const rest = {
    reason: "read",
    at: "2026-03-01T09:30:00Z",
    is_bulk: false,
    row_count: 1,
    file_sha256: null,
    query: null,
  };
  return { ...rest, revision, action, author, shard_sha256: "0".repeat(64), row: 1 };
}

describe("rulings on a document", () => {
  it("hold until they are undone", () => {
    expect(findInForce([])).toBeUndefined();
    expect(findInForce([ruling(2, "keep", "anna"), ruling(1, "exclude", "ben")])?.revision).toBe(2);
    expect(findInForce([ruling(3, "undo", "anna"), ruling(2, "keep", "anna")])).toBeUndefined();
  });

  it("overrule only another person who said otherwise", () => {
    const history = [ruling(2, "keep", "anna")];
    expect(findOverruled(history, "exclude", "ben")?.author).toBe("anna");
    expect(findOverruled(history, "undo", "ben")?.author).toBe("anna");
    expect(findOverruled(history, "keep", "ben")).toBeUndefined();
    expect(findOverruled(history, "exclude", "anna")).toBeUndefined();
  });
});
