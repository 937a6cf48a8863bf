import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { jobsQuery, type JobState, type JobView } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { SelectField, type Option } from "@/components/fields";
import { JobProgress } from "@/components/JobProgress";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { formatCount, formatDuration, formatShortCount, secondsBetween } from "@/words/numbers";
import { JOB_KINDS, JOB_STATES } from "@/words/terms";
import styles from "./jobs.module.css";

const COLUMNS: readonly Column<JobView>[] = [
  { id: "job", header: "Job", cell: (job) => <Link href={`/jobs/${job.id}`}>Job {job.id}</Link>, look: "fit" },
  {
    id: "source",
    header: "Source",
    cell: (job) => <Link href={`/sources/${job.source.id}`}>{job.source.name}</Link>,
  },
  {
    id: "profile",
    header: "Profile",
    cell: (job) => (
      <Link href={`/profiles/${job.profile.name}/${job.profile.version}`}>
        {job.profile.name} v{job.profile.version}
      </Link>
    ),
    isSecondary: true,
  },
  {
    id: "kind",
    header: "What",
    cell: (job) => <span title={JOB_KINDS[job.kind].meaning}>{JOB_KINDS[job.kind].label}</span>,
    isSecondary: true,
    look: "fit",
  },
  { id: "state", header: "State", cell: (job) => <StateBadge term={JOB_STATES[job.state]} />, look: "fit" },
  {
    id: "documents",
    header: "Documents",
    look: "number",
    cell: (job) =>
      job.state === "running" ? (
        <JobProgress job={job} />
      ) : (
        <span title={formatCount(job.documents_done)}>{formatShortCount(job.documents_done)}</span>
      ),
  },
  {
    id: "started",
    header: "Started",
    look: "fit",
    cell: (job) => <Moment at={job.created_at} />,
  },
  {
    id: "took",
    header: "Took",
    look: "number",
    isSecondary: true,
    cell: (job) =>
      job.started_at && job.finished_at ? formatDuration(secondsBetween(job.started_at, job.finished_at)) : "–",
  },
];

const STATE_OPTIONS: readonly Option<JobState | "any">[] = [
  { value: "any", label: "All jobs" },
  ...(Object.keys(JOB_STATES) as JobState[]).map((state) => ({ value: state, label: JOB_STATES[state].label })),
];

export default function JobsPage() {
  const [state, setState] = useState<JobState | "any">("any");
  const jobs = useInfiniteQuery(jobsQuery(state === "any" ? undefined : state));
  const mayStart = useIsAllowed("jobs");
  const start = mayStart && (
    <ButtonLink href="/jobs/new" look="primary">
      New job
    </ButtonLink>
  );
  return (
    <Page title="Jobs" purpose="Every request to measure and curate a source, the newest first." actions={start}>
      <Loaded query={jobs} what="the jobs">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0 && state === "any") {
            return (
              <EmptyState title="There are no jobs yet" action={start}>
                A job measures the documents of a source, decides which are kept, and exports those.
              </EmptyState>
            );
          }
          return (
            <Section
              title={state === "any" ? "All jobs" : JOB_STATES[state].label}
              actions={
                <SelectField label="State" isLabelHidden value={state} onChange={setState} options={STATE_OPTIONS} />
              }
            >
              {rows.length > 0 ? (
                <DataTable
                  label="Jobs"
                  columns={COLUMNS}
                  rows={rows}
                  keyOf={(job) => job.id}
                  onMore={jobs.hasNextPage ? () => void jobs.fetchNextPage() : undefined}
                  isLoadingMore={jobs.isFetchingNextPage}
                />
              ) : (
                <p className={styles.muted}>No job is in this state.</p>
              )}
            </Section>
          );
        }}
      </Loaded>
    </Page>
  );
}
