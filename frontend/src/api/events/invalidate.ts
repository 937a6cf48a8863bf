// What an event makes outdated. Many events in a row are answered by one look.
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { conceptKeys } from "../concepts";
import { documentKeys } from "../documents";
import { exportKeys } from "../exports";
import { probeKeys } from "../probes";
import type { ServiceEvent } from "./event";

const TOGETHER_MS = 400;

/** The queries that an event is about: of its job, of lists of jobs; of another noun, everything. A ruling changes decisions,
 * and a job that enters another state may be an export's, a probe's, or one that looks for concepts. */
export function keysOf(event: ServiceEvent): QueryKey[] {
  const noun = event.kind.split(".")[0] ?? "";
  if (noun === "ruling") return [["rulings"], documentKeys.counts, documentKeys.ones, conceptKeys.all];
  if (noun !== "job") return [[`${noun}s`]];
  const keys: QueryKey[] = [["jobs", "list"]];
  if (event.job_id !== null) keys.push(["jobs", "detail", event.job_id], ["jobs", "tasks", event.job_id]);
  if (event.kind === "job.state") keys.push(exportKeys.all, probeKeys.all, conceptKeys.measured);
  return keys;
}

export class Invalidator {
  private readonly keys = new Map<string, QueryKey>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: QueryClient) {}

  readonly note = (event: ServiceEvent): void => {
    for (const key of keysOf(event)) this.keys.set(JSON.stringify(key), key);
    this.timer ??= setTimeout(this.flush, TOGETHER_MS);
  };

  readonly noteEverything = (): void => {
    // Lists that somebody reads stay as they were asked for.
    void this.client.invalidateQueries({ predicate: ({ meta }) => meta?.isSnapshot !== true });
  };

  private readonly flush = (): void => {
    this.timer = undefined;
    const keys = [...this.keys.values()];
    this.keys.clear();
    for (const queryKey of keys) void this.client.invalidateQueries({ queryKey });
  };
}
