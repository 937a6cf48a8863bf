// The newest rulings over several sources, each with the job in which its document can be read.
import { isReadable, type JobView } from "@/api/jobs";
import type { Ruling } from "@/api/rulings";

export interface SourceRuling extends Ruling {
  source: JobView["source"];
  /** The job that read most of the source; null while that is being asked. */
  jobId: number | null;
}

/** The sources of jobs, that of the newest job first. */
export function chooseSources(newestFirst: readonly JobView[], most: number): JobView["source"][] {
  const sources = new Map(newestFirst.filter(isReadable).map(({ source }) => [source.id, source]));
  return [...sources.values()].slice(0, most);
}

/** Of jobs over one source, the newest first, the one that read most of it. */
export function chooseJob(newestFirst: readonly JobView[]): JobView | undefined {
  return newestFirst.reduce<JobView | undefined>(
    (most, job) => (most && most.documents_done >= job.documents_done ? most : job),
    undefined,
  );
}

/** `lists`: the rulings on each source. `jobs`: the readable ones over it, the newest first. */
export function mergeRulings(
  sources: readonly JobView["source"][],
  lists: readonly (readonly Ruling[])[],
  jobs: readonly (readonly JobView[])[],
  most: number,
): SourceRuling[] {
  return sources
    .flatMap((source, place) => {
      const job = chooseJob(jobs[place] ?? []);
      return (lists[place] ?? []).map((ruling) => ({ ...ruling, source, jobId: job?.id ?? null }));
    })
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, most);
}
