import { useQueries, useQuery } from "@tanstack/react-query";
import { isOver, jobQuery, recentJobsQuery, type JobDetail, type JobView } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { sourcesQuery } from "@/api/sources";
import { ButtonLink } from "@/components/Button";
import { Page } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { JobsInProgress } from "./JobsInProgress";
import { LastRulings } from "./LastRulings";
import { LatestFunnel } from "./LatestFunnel";
import styles from "./overview.module.css";
import { RecentRuns } from "./RecentRuns";

const RECENT = 10;

export default function OverviewPage() {
  const jobs = useQuery(recentJobsQuery);
  const mayStart = useIsAllowed("jobs");
  return (
    <Page
      title="Overview"
      purpose="What is being curated now, and what earlier jobs kept."
      actions={
        mayStart && (
          <ButtonLink href="/jobs/new" look="primary">
            New job
          </ButtonLink>
        )
      }
    >
      <Loaded query={jobs} what="the jobs">
        {({ items }) => (items.length > 0 ? <Jobs jobs={items} /> : <NothingYet />)}
      </Loaded>
    </Page>
  );
}

function Jobs({ jobs }: { jobs: readonly JobView[] }) {
  const active = jobs.filter((job) => !isOver(job));
  const finished = jobs.filter((job) => job.state === "succeeded" && job.kind === "curate").slice(0, RECENT);
  const details = useQueries({ queries: finished.map((job) => jobQuery(job.id)) });
  const runs = details.map(({ data }) => data).filter((run): run is JobDetail => run !== undefined);
  const latest = runs[0];
  return (
    <>
      {active.length > 0 && <JobsInProgress jobs={active} />}
      {latest && (
        <div className={styles.two}>
          <LatestFunnel job={latest} />
          <RecentRuns runs={runs} />
        </div>
      )}
      <LastRulings jobs={jobs} />
      {active.length === 0 && !latest && details.length === 0 && (
        <EmptyState
          title="No job has succeeded yet"
          action={
            <ButtonLink href="/jobs" look="primary">
              See the jobs
            </ButtonLink>
          }
        >
          Once one has, this page shows what it kept and which stage took the rest away.
        </EmptyState>
      )}
    </>
  );
}

/** Leads to the first job: by way of a source, where there is none. */
function NothingYet() {
  const sources = useQuery(sourcesQuery);
  const mayStart = useIsAllowed("jobs");
  return (
    <Loaded query={sources} what="the sources">
      {(found) => {
        const hasSource = found.length > 0;
        if (!mayStart) {
          return (
            <EmptyState title="Nothing has been curated yet">
              An operator registers a source and starts the first job; then this page shows what it keeps.
            </EmptyState>
          );
        }
        return (
          <EmptyState
            title="Start the first job"
            action={
              <ButtonLink href={hasSource ? "/jobs/new" : "/sources/new"} look="primary">
                {hasSource ? "New job" : "Register a source"}
              </ButtonLink>
            }
          >
            {hasSource
              ? "There is a source. A job measures its documents, decides which of them a finished fifth-grader can read, and exports those."
              : "First say where your documents are. A job then measures them, decides which of them a finished fifth-grader can read, and exports those."}
          </EmptyState>
        );
      }}
    </Loaded>
  );
}
