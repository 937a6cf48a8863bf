/** A number as an address has it: of a job, a version, a document. Null where it is none. */
export function readId(written: string | null | undefined): number | null {
  return written && /^\d{1,15}$/.test(written) ? Number(written) : null;
}
