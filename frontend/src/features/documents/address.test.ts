import { describe, expect, it } from "vitest";
import { readView, writeView, type View } from "./address";

const EVERYTHING: View = {
  query: {
    outcome: "excluded",
    decided_by: "lexical",
    excluded_by: "notation",
    sole: "certain",
    undecided_for: "encoder",
    override: "any",
    has_source_rule: false,
    has_error: true,
    ranges: [
      { column: "tokens", low: 100, high: null, is_missing: false },
      { column: "p95_aoa", low: 9.5, high: 12.25, is_missing: false },
      { column: "encoder_window_k5", low: null, high: null, is_missing: true },
    ],
    rule: "root_sign",
    term: "photosynthèse & co",
    bands: [{ reading: "fasttext_document", band: "K8" }],
    domain: "example.org",
    has_subdomains: true,
    shard: "a b/part-0.parquet",
    url: "https://example.org/?a=1&b=2#c",
    doc_id: "数-1",
  },
  sort: { column: "tokens", is_descending: true },
  at: 12345,
  profileId: 3,
  vocabularyId: 5,
};

describe("a view as an address", () => {
  it("comes back as it was, whatever its texts hold", () => {
    const written = writeView(EVERYTHING).toString();
    expect(readView(new URLSearchParams(written))).toEqual(EVERYTHING);
  });

  it("is empty where nothing is asked", () => {
    const nothing: View = { query: {}, sort: {}, at: null, profileId: null, vocabularyId: null };
    expect(writeView(nothing).toString()).toBe("");
    expect(readView(new URLSearchParams())).toEqual(nothing);
  });

  it("keeps the first document and a bound of nothing", () => {
    const view: View = {
      query: { ranges: [{ column: "oov_ratio", low: 0, high: 0, is_missing: false }] },
      sort: {},
      at: 0,
      profileId: null,
      vocabularyId: null,
    };
    expect(readView(writeView(view))).toEqual(view);
  });

  it("passes over what means nothing", () => {
    const address = new URLSearchParams(
      "outcome=lost&alone=certain&range=age:1..2&range=tokens:x..3&range=tokens:..&range=tokens&grade=K5&sort=size&at=-1&profile=1e3",
    );
    expect(readView(address)).toEqual({ query: {}, sort: {}, at: null, profileId: null, vocabularyId: null });
  });
});
