import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { jobQuery, type JobView } from "@/api/jobs";
import { JobProgress } from "@/components/JobProgress";
import { Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { JOB_STATES } from "@/words/terms";
import styles from "./overview.module.css";

const MOST = 5;

export function JobsInProgress({ jobs }: { jobs: readonly JobView[] }) {
  return (
    <Section title="In progress" actions={jobs.length > MOST && <Link href="/jobs">All {jobs.length} jobs</Link>}>
      <div className={styles.jobs}>
        {jobs.slice(0, MOST).map((job) => (
          <JobInProgress key={job.id} job={job} />
        ))}
      </div>
    </Section>
  );
}

function JobInProgress({ job }: { job: JobView }) {
  const { data } = useQuery(jobQuery(job.id));
  const shown = data ?? job;
  return (
    <div className={styles.job}>
      <div className={styles.jobHead}>
        <Link href={`/jobs/${job.id}`}>
          Job {job.id}: {job.source.name}
        </Link>
        <StateBadge term={JOB_STATES[shown.state]} />
      </div>
      <JobProgress job={shown} />
    </div>
  );
}
