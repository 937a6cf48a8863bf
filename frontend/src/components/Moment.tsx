import { useSyncExternalStore } from "react";
import { formatAgo, formatExactMoment } from "@/words/numbers";

const TICK_MS = 20_000;
let now = Date.now();

function followClock(listener: () => void): () => void {
  now = Date.now();
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, TICK_MS);
  return () => clearInterval(timer);
}

/** How long ago it was; the exact time on hover. */
export function Moment({ at }: { at: string }) {
  const current = useSyncExternalStore(followClock, () => now);
  return (
    <time dateTime={at} title={formatExactMoment(at)}>
      {formatAgo(at, current)}
    </time>
  );
}
