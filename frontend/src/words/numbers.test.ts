import { describe, expect, it } from "vitest";
import { formatAgo, formatBytes, formatDuration, formatRate, formatShare, formatShortCount, plural } from "./numbers";

describe("numbers", () => {
  it("never rounds something to nothing or part to all", () => {
    expect(formatShare(0, 10)).toBe("0 %");
    expect(formatShare(1, 1_000_000)).toBe("< 0.1 %");
    expect(formatShare(999_999, 1_000_000)).toBe("> 99.9 %");
    expect(formatShare(92, 254)).toBe("36 %");
    expect(formatShare(5, 100)).toBe("5.0 %");
    expect(formatShare(3, 0)).toBe("–");
  });

  it("says sizes, durations and rates with their unit", () => {
    expect(formatBytes(1)).toBe("1 byte");
    expect(formatBytes(193_175)).toBe("193 kB");
    expect(formatBytes(999_999)).toBe("1.0 MB");
    expect(formatBytes(28_543_987_712)).toBe("29 GB");
    expect(formatDuration(0.4)).toBe("under 1 s");
    expect(formatDuration(60)).toBe("1 min");
    expect(formatDuration(3_725)).toBe("1 h 2 min");
    expect(formatDuration(200_000)).toBe("2 d 8 h");
    expect(formatRate(0.2)).toBe("12 a minute");
    expect(formatRate(2.55)).toBe("2.5 a second");
    expect(formatShortCount(99_999)).toBe("99,999");
    expect(formatShortCount(1_230_000)).toBe("1.23M");
    expect(plural(1, "document")).toBe("1 document");
    expect(plural(1_200, "document")).toBe("1,200 documents");
  });

  it("says how long ago", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(formatAgo("2026-03-01T11:59:30Z", now)).toBe("just now");
    expect(formatAgo("2026-03-01T11:30:00Z", now)).toBe("30 min ago");
    expect(formatAgo("2026-02-27T12:00:00Z", now)).toBe("2 days ago");
    expect(formatAgo("2026-03-01T12:00:05Z", now)).toBe("just now");
  });
});
