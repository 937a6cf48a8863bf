import { expect, it } from "vitest";
import { describeChanges } from "./changes";

it("names what changed, from what to what, and leaves out what did not", () => {
  expect(describeChanges({ role: "curator", is_active: true }, { role: "operator", is_active: true })).toBe(
    "role: curator → operator",
  );
  expect(describeChanges(null, { name: "ben", is_active: true, seed: null })).toBe("name: ben\nactive: yes");
  expect(describeChanges({ prefix: "/srv" }, null)).toBe("place: /srv → nothing");
  expect(describeChanges(null, { options: { limit: null, sample_share: 0.1 }, places: ["a", "b"] })).toBe(
    "options: sample share 0.1\nplaces: a, b",
  );
});
