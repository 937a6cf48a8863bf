// The service's events, for every tab from one stream: the tab that holds the lock reads it and tells the others. When it
// closes, another takes the lock and carries on after the last event that it was told of.
import { isReachable } from "../connection";
import type { ServiceEvent } from "./event";
import { pollEvents } from "./poll";
import { readStream } from "./read-stream";

const LOCK = "primer.events";
const FAILURES_BEFORE_POLLING = 3;
const POLL_ROUNDS = 20; // then the stream is tried again
const RETRY_MS = [500, 1_000, 2_000, 5_000];

export interface Followed {
  /** An event, here or in another tab. */
  onEvent: (event: ServiceEvent) => void;
  /** The stream was lost and is back: events may have been missed before the first one was seen. */
  onGap: () => void;
}

export function followEvents({ onEvent, onGap }: Followed, signal: AbortSignal): void {
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(LOCK);
  let last: number | undefined;

  function note(event: ServiceEvent): void {
    if (last !== undefined && event.sequence <= last) return;
    last = event.sequence;
    onEvent(event);
  }

  channel?.addEventListener("message", ({ data }: MessageEvent<ServiceEvent>) => note(data));
  signal.addEventListener("abort", () => channel?.close());

  async function lead(): Promise<void> {
    const tell = (event: ServiceEvent) => {
      note(event);
      if (!signal.aborted) channel?.postMessage(event);
    };
    let failures = 0;
    let wasOpen = false;
    while (!signal.aborted) {
      try {
        if (failures >= FAILURES_BEFORE_POLLING && isReachable.get()) {
          await pollEvents(last, POLL_ROUNDS, signal, tell);
        }
        const onOpen = () => {
          failures = 0;
          if (wasOpen) onGap();
          wasOpen = true;
        };
        await readStream({ after: last, signal, onOpen, onEvent: tell });
      } catch {
        failures += 1;
      }
      const pause = RETRY_MS[Math.min(failures, RETRY_MS.length - 1)];
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  // Without locks (a page that is neither local nor https) every tab reads for itself.
  if (!("locks" in navigator)) {
    void lead();
    return;
  }
  navigator.locks.request(LOCK, { signal }, lead).catch(() => undefined);
}
