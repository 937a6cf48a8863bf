import { describe, expect, it } from "vitest";
import { LatestOnly } from "./latest-only";

function scene() {
  const asked: number[] = [];
  const answered: number[] = [];
  const failed: unknown[] = [];
  const open: { resolve: (answer: number) => void; reject: (error: unknown) => void }[] = [];
  const latest = new LatestOnly<number, number>(
    (question) => {
      asked.push(question);
      return new Promise((resolve, reject) => open.push({ resolve, reject }));
    },
    (_, answer) => answered.push(answer),
    (error) => failed.push(error),
  );
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  return { latest, asked, answered, failed, open, settle };
}

describe("questions that come faster than answers", () => {
  it("are asked one at a time, and next the newest", async () => {
    const { latest, asked, answered, open, settle } = scene();
    latest.put(1);
    latest.put(2);
    latest.put(3);
    expect(asked).toEqual([1]);
    open[0]?.resolve(10);
    await settle();
    expect(asked).toEqual([1, 3]);
    open[1]?.resolve(30);
    await settle();
    expect(answered).toEqual([10, 30]);
    latest.put(4);
    expect(asked).toEqual([1, 3, 4]);
  });

  it("forgive an error that a newer question follows", async () => {
    const { latest, failed, open, answered, settle } = scene();
    latest.put(1);
    latest.put(2);
    open[0]?.reject("lost");
    await settle();
    expect(failed).toEqual([]);
    open[1]?.reject("gone");
    await settle();
    expect(failed).toEqual(["gone"]);
    expect(answered).toEqual([]);
  });

  it("are not answered after the end", async () => {
    const { latest, asked, answered, open, settle } = scene();
    latest.put(1);
    latest.put(2);
    latest.end();
    open[0]?.resolve(10);
    await settle();
    expect([asked, answered]).toEqual([[1], []]);
  });
});
