// Whether the service answers. While it does not, TanStack Query holds back what is asked and sends it once it is there.
import { onlineManager } from "@tanstack/react-query";
import { createStore } from "./store";

const ASK_AGAIN_MS = 2_000;
const ANSWER_MS = 5_000;

export const isReachable = createStore(true);

let timer: ReturnType<typeof setTimeout> | undefined;

// The browser's own idea of being online says nothing about a service on this machine.
onlineManager.setEventListener(() => undefined);
onlineManager.setOnline(true);

export function noteAnswer(): void {
  clearTimeout(timer);
  timer = undefined;
  isReachable.set(true);
  onlineManager.setOnline(true);
}

export function noteSilence(): void {
  isReachable.set(false);
  onlineManager.setOnline(false);
  timer ??= setTimeout(askAgain, ASK_AGAIN_MS);
}

async function isAnswering(): Promise<boolean> {
  try {
    const answer = await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    return answer.ok;
  } catch {
    return false;
  }
}

async function askAgain(): Promise<void> {
  if (await isAnswering()) noteAnswer();
  else timer = setTimeout(askAgain, ASK_AGAIN_MS);
}

/** Resolves once the service answers. */
export async function waitForService(): Promise<void> {
  if (await isAnswering()) return;
  noteSilence();
  await new Promise<void>((resolve) => {
    const forget = isReachable.subscribe(() => {
      forget();
      resolve();
    });
  });
}

export function askNow(): void {
  clearTimeout(timer);
  timer = undefined;
  void askAgain();
}
