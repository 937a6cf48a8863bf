// Who is signed in. A session that ends in the middle of work is begun again by the same person; whatever was asked
// meanwhile waits for it. Tabs tell each other that it was begun.
import { noteAnswer, noteSilence } from "./connection";
import { ProblemError, readProblem, UnreachableError } from "./problem";
import type { components } from "./schema";
import { createStore } from "./store";

export type Session = components["schemas"]["SessionAnswer"];

/** `expired`: `session` is whose work is on the screen, and they must sign in again. */
export type SignIn = { state: "unknown" | "signedOut" } | { state: "signedIn" | "expired"; session: Session };

export const signIn = createStore<SignIn>({ state: "unknown" });

const tabs = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("primer.session");
let waiting: (() => void)[] = [];

export async function loadSession(): Promise<void> {
  const answer = await ask("/api/v1/session", { method: "GET" });
  if (answer.status === 401) signIn.set({ state: "signedOut" });
  else accept(await readSession(answer));
}

export async function beginSession(name: string, password: string): Promise<void> {
  const answer = await ask("/api/v1/session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name, password }),
  });
  accept(await readSession(answer));
  tabs?.postMessage("begun");
}

/** Everything on the screen goes: the next person must not see it. */
export async function endSession(): Promise<void> {
  await ask("/api/v1/session", { method: "DELETE", headers: { "X-CSRF-Token": csrfToken() } });
  window.location.assign("/");
}

export function csrfToken(): string {
  const now = signIn.get();
  return "session" in now ? (now.session.csrf_token ?? "") : "";
}

/** Resolves once the same person is signed in again. */
export function waitForSession(): Promise<void> {
  const now = signIn.get();
  if ("session" in now) signIn.set({ state: "expired", session: now.session });
  return new Promise((resolve) => waiting.push(resolve));
}

/** Another tab may have begun a new session, whose token is another. True when the token changed. */
export async function refreshToken(): Promise<boolean> {
  const before = csrfToken();
  const answer = await ask("/api/v1/session", { method: "GET" });
  if (!answer.ok) return false;
  accept(await readSession(answer));
  return csrfToken() !== before;
}

function accept(session: Session): void {
  const now = signIn.get();
  if ("session" in now && now.session.user_id !== session.user_id) {
    // Another person: what is on the screen is not theirs.
    window.location.reload();
    return;
  }
  signIn.set({ state: "signedIn", session });
  const released = waiting;
  waiting = [];
  for (const release of released) release();
}

async function ask(path: string, options: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...options, cache: "no-store" });
  } catch {
    noteSilence();
    throw new UnreachableError();
  }
  noteAnswer();
  return answer;
}

async function readSession(answer: Response): Promise<Session> {
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw new ProblemError(readProblem(body, answer.status));
  return body as Session;
}

tabs?.addEventListener("message", () => {
  if (signIn.get().state === "expired") void refreshToken().catch(() => undefined);
});
