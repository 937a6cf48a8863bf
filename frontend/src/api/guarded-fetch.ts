// Every request passes here: it carries the session's token, waits while its person signs in again, and is then repeated.
import { noteAnswer, noteSilence } from "./connection";
import { UnreachableError } from "./problem";
import { csrfToken, refreshToken, waitForSession } from "./session";

const CHANGES_NOTHING = new Set(["GET", "HEAD", "OPTIONS"]);
const NOT_THERE = new Set([502, 503, 504]); // what a proxy says for a service that is down
const PROBLEM = "application/problem+json"; // what only the service itself says: it is there, and not ready for this

export async function guardedFetch(request: Request): Promise<Response> {
  let isTokenFresh = false;
  for (;;) {
    const answer = await send(request);
    if (answer.status === 401) {
      await waitForSession();
    } else if (answer.status === 403 && isChange(request) && !isTokenFresh) {
      isTokenFresh = true;
      if (!(await refreshToken())) return answer;
    } else {
      return answer;
    }
  }
}

function isChange(request: Request): boolean {
  return !CHANGES_NOTHING.has(request.method);
}

async function send(request: Request): Promise<Response> {
  const attempt = request.clone(); // the body of a request can be sent once
  if (isChange(request)) attempt.headers.set("X-CSRF-Token", csrfToken());
  let answer: Response;
  try {
    answer = await fetch(attempt);
  } catch (error) {
    if (request.signal.aborted) throw error;
    noteSilence();
    throw new UnreachableError();
  }
  if (NOT_THERE.has(answer.status) && !answer.headers.get("Content-Type")?.startsWith(PROBLEM)) {
    noteSilence();
    throw new UnreachableError();
  }
  noteAnswer();
  return answer;
}
