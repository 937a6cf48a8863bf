// One thing that happened in the service.
import type { Schemas } from "../client";

export type ServiceEvent = Schemas["EventView"];

/** Undefined for what is no event of ours. */
export function parseEvent(text: string): ServiceEvent | undefined {
  try {
    const value = JSON.parse(text) as Partial<ServiceEvent> | null;
    const isEvent = typeof value?.sequence === "number" && typeof value.kind === "string";
    return isEvent ? (value as ServiceEvent) : undefined;
  } catch {
    return undefined;
  }
}
