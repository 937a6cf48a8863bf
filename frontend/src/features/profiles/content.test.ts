import { describe, expect, it } from "vitest";
import { parseValue, readPlace, showValue, writePlace } from "./content";

describe("a profile's content in a form", () => {
  const content = { form: "raw", lexical: { max_p95_aoa: 12, max_oov_ratio: 0.05 }, notation: null };

  it("is read and written by place, and the original stays", () => {
    expect(readPlace(content, "lexical.max_p95_aoa")).toBe(12);
    expect(readPlace(content, "notation.rules")).toBeUndefined();
    expect(writePlace(content, "lexical.max_p95_aoa", 11)).toEqual({
      ...content,
      lexical: { max_p95_aoa: 11, max_oov_ratio: 0.05 },
    });
    expect(writePlace(content, "notation.rules", "published").notation).toEqual({ rules: "published" });
    expect(content.lexical.max_p95_aoa).toBe(12);
  });

  it("takes numbers as people write them, and says what is none", () => {
    const field = { path: "lexical.max_oov_ratio", kind: "number" } as const;
    expect(parseValue(field, " 0,05 ")).toEqual({ value: 0.05 });
    expect(parseValue(field, "")).toEqual({ value: null, error: "Give a number." });
    expect(parseValue(field, "much")).toEqual({ value: null, error: "Give a number." });
    expect(parseValue({ ...field, isOptional: true }, "")).toEqual({ value: null });
  });

  it("takes lists apart and puts them together", () => {
    const field = { path: "notation.ignore", kind: "list" } as const;
    expect(parseValue(field, "powers, roots\n")).toEqual({ value: ["powers", "roots"] });
    expect(parseValue(field, "")).toEqual({ value: [] });
    expect(showValue(["powers", "roots"])).toBe("powers, roots");
    expect(showValue(null)).toBe("");
  });
});
