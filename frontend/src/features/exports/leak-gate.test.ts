import { expect, test } from "vitest";
import { readLeakGate } from "./leak-gate";

test("the gate is read from the manifest, and is nothing where there was none", () => {
  const gate = {
    max_share: 0.05,
    catalogue: { name: "beyond-k5", version: 2, sha256: "0c7a" },
    documents: 150,
    leaking: 3,
    share: 0.02,
    interval_95: [0.004, 0.057],
    concepts: { ratio: 3 },
  };
  expect(readLeakGate({ leak_gate: gate })).toEqual({
    documents: 150,
    leaking: 3,
    share: 0.02,
    most: 0.05,
    interval: [0.004, 0.057],
    version: 2,
  });
  expect(readLeakGate({})).toBeNull();
  expect(readLeakGate(null)).toBeNull();
});
