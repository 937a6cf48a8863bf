// Parts of the workbench that are loaded when they are first shown, or when the browser has nothing else to do.
import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import { waitForService } from "@/api/connection";

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

const RELOADED = "primer.reloaded";
const loads: (() => Promise<unknown>)[] = [];

export type LazyPart<Props = object> = LazyExoticComponent<ComponentType<Props>> & { fetch: () => void };

/** `fetch` asks for the part before it is shown. */
export function lazyPart<Props = object>(load: Load<Props>): LazyPart<Props> {
  loads.push(load);
  return Object.assign(
    lazy(() => loadPatiently(load)),
    { fetch: () => void load().catch(() => undefined) },
  );
}

/** Fetches what was not needed yet, so that it is there at once, and also while the service is away. */
export function loadAhead(): void {
  const start = () => void Promise.allSettled(loads.map((load) => load()));
  if ("requestIdleCallback" in window) window.requestIdleCallback(start, { timeout: 5_000 });
  else setTimeout(start, 2_000);
}

/** Waits while the service is away. A part that is gone from a service that answers is of an older build: load the new one. */
async function loadPatiently<Props>(load: Load<Props>): Promise<{ default: ComponentType<Props> }> {
  try {
    return await load();
  } catch {
    await waitForService();
  }
  try {
    return await load();
  } catch (error) {
    if (sessionStorage.getItem(RELOADED) === null) {
      sessionStorage.setItem(RELOADED, "yes");
      window.location.reload();
    }
    throw error;
  }
}
