// Asks for events now and then, where no stream comes through.
import { api, unwrap } from "../client";
import type { ServiceEvent } from "./event";

const POLL_MS = 3_000;
const AT_ONCE = 500;

/** Asks `rounds` times. Without `after` what lies in the past is passed over in silence first. */
export async function pollEvents(
  after: number | undefined,
  rounds: number,
  signal: AbortSignal,
  onEvent: (event: ServiceEvent) => void,
): Promise<void> {
  let position = after ?? 0;
  let isPast = after === undefined;
  for (let round = 0; round < rounds && !signal.aborted;) {
    const query = { after: position, limit: AT_ONCE };
    const page = await unwrap(api.GET("/api/v1/events", { params: { query }, signal }));
    if (!isPast) page.items.forEach(onEvent);
    position = page.next;
    if (page.items.length === AT_ONCE) continue;
    isPast = false;
    round += 1;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
