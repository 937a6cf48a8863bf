import { expect, test } from "vitest";
import { readPercent } from "./percent";
import { describeProbe, nameProbed, sayLimit } from "./probe-words";

test("a probe says what it is of, how far it is and whether it is within its limit", () => {
  expect(nameProbed({ export_id: null, base_job_id: 4 })).toBe("what job 4 keeps");
  expect(nameProbed({ export_id: 2, base_job_id: 4 })).toBe("export 2");
  expect(describeProbe({ state: "running", is_above: null, max_share: 0.1 }).label).toBe("Reading");
  expect(describeProbe({ state: "succeeded", is_above: false, max_share: null }).label).toBe("Done");
  expect(describeProbe({ state: "succeeded", is_above: true, max_share: 0.1 }).label).toBe("Above the limit");
  expect(describeProbe({ state: "failed", is_above: null, max_share: null }).label).toBe("Failed");
  expect(sayLimit({ share: 0.0199, max_share: 0.0005, is_above: true })).toBe(
    "2.0 % is above the 0.05 % that was asked for.",
  );
  expect(sayLimit({ share: 0.0199, max_share: null, is_above: false })).toBeNull();
});

test("a share is written in per cent, or not at all", () => {
  expect(readPercent("")).toBeNull();
  expect(readPercent("0,05")).toBeCloseTo(0.0005);
  expect(readPercent("0")).toBe(0);
  expect([readPercent("100"), readPercent("-1"), readPercent("much")]).toEqual([undefined, undefined, undefined]);
});
