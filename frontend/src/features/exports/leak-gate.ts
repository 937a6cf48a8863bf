// What an export's manifest says of its release gate.
import type { ExportDetail } from "@/api/exports";

export interface LeakGate {
  documents: number;
  leaking: number;
  share: number;
  /** The largest share that was allowed. */
  most: number;
  interval: [number, number];
  /** Of the catalogue. */
  version: number;
}

/** Null where there was no gate. */
export function readLeakGate(manifest: ExportDetail["manifest"]): LeakGate | null {
  const gate = manifest?.leak_gate as
    | {
        documents: number;
        leaking: number;
        share: number;
        max_share: number;
        interval_95: [number, number];
        catalogue: { version: number };
      }
    | undefined;
  if (!gate) return null;
  const { documents, leaking, share, max_share: most, interval_95: interval, catalogue } = gate;
  return { documents, leaking, share, most, interval, version: catalogue.version };
}
