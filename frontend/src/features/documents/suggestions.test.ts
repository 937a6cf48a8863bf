import { describe, expect, it } from "vitest";
import { listConditions } from "./conditions";
import { addCondition, suggest } from "./suggestions";

const conditionsOf = (text: string) => suggest(text).flatMap(({ condition }) => (condition ? [condition] : []));

describe("what is written into the query bar", () => {
  it("is a number where a name and a bound are given", () => {
    expect(conditionsOf("length > 500")[0]).toEqual({
      ranges: [{ column: "tokens", low: 500, high: null, is_missing: false }],
    });
    expect(conditionsOf("length < 500")[0]?.ranges?.[0]).toEqual({
      column: "tokens",
      low: null,
      high: 500,
      is_missing: false,
    });
    expect(conditionsOf("age 9,5..12")[0]?.ranges?.[0]).toEqual({
      column: "p95_aoa",
      low: 9.5,
      high: 12,
      is_missing: false,
    });
    expect(conditionsOf("unknown-words > 5")[0]?.ranges?.[0]?.low).toBe(0.05);
    expect(conditionsOf("careful-passage > 0.6")[0]?.ranges?.[0]?.column).toBe("encoder_window_k5");
  });

  it("is completed where only the name is given", () => {
    expect(suggest("leng")[0]).toEqual({ id: "name:tokens", label: "Length: at least or under …", text: "length > " });
  });

  it("is a site, an address, a word or an id", () => {
    expect(conditionsOf("Example.org")).toEqual([
      { domain: "example.org", has_subdomains: false },
      { domain: "example.org", has_subdomains: true },
      { term: "example.org" },
      { doc_id: "Example.org" },
    ]);
    expect(conditionsOf("https://example.org/a")).toEqual([
      { domain: "example.org", has_subdomains: false },
      { domain: "example.org", has_subdomains: true },
      { url: "https://example.org/a" },
      { doc_id: "https://example.org/a" },
    ]);
    expect(conditionsOf("Fraction")).toEqual([{ term: "fraction" }, { doc_id: "Fraction" }]);
  });

  it("is added to what is asked, and can be taken away again", () => {
    const one = addCondition(
      { outcome: "kept" },
      { ranges: [{ column: "tokens", low: 1, high: null, is_missing: false }] },
    );
    const two = addCondition(one, { ranges: [{ column: "p95_aoa", low: null, high: 9, is_missing: false }] });
    const conditions = listConditions(two);
    expect(conditions.map(({ label }) => label)).toEqual([
      "Kept",
      "Length: at least 1 token",
      "Oldest age of its hard words: under 9 years",
    ]);
    expect(conditions[1]?.rest.ranges).toEqual([{ column: "p95_aoa", low: null, high: 9, is_missing: false }]);
    expect(addCondition(two, { outcome: "excluded" }).outcome).toBe("excluded");
  });
});
