// The newest rulings over several sources, each with the job in which its document can be read.
import { isReadable, type JobView } from "@/api/jobs";
import type { Ruling } from "@/api/rulings";

export interface SourceRuling extends Ruling {
  source: JobView["source"];
  /** The job that read most of the source. */
  jobId: number;
}

/** For every source the job that read most of it, the source of the newest job first. */
export function chooseJobs(newestFirst: readonly JobView[], most: number): JobView[] {
  const chosen = new Map<number, JobView>();
  for (const job of newestFirst.filter(isReadable)) {
    const other = chosen.get(job.source.id);
    if (!other || job.documents_done > other.documents_done) chosen.set(job.source.id, job);
  }
  return [...chosen.values()].slice(0, most);
}

/** `lists`: the rulings on each job's source. */
export function mergeRulings(jobs: readonly JobView[], lists: readonly Ruling[][], most: number): SourceRuling[] {
  return jobs
    .flatMap(({ id, source }, place) => (lists[place] ?? []).map((ruling) => ({ ...ruling, source, jobId: id })))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    .slice(0, most);
}
