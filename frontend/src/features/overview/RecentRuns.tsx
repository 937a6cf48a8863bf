import { Suspense } from "react";
import { Link } from "wouter";
import { readFunnel, type JobDetail } from "@/api/jobs";
import { DataTable, type Column } from "@/components/DataTable";
import { lazyPart } from "@/components/lazy-part";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { formatCount, formatShare, formatShortCount } from "@/words/numbers";

const TrendChart = lazyPart(() => import("./TrendChart"));

const COLUMNS: readonly Column<JobDetail>[] = [
  {
    id: "job",
    header: "Job",
    cell: (job) => (
      <Link href={`/jobs/${job.id}`}>
        {job.id}: {job.source.name}
      </Link>
    ),
  },
  {
    id: "kept",
    header: "Documents kept",
    look: "number",
    cell: (job) => {
      const kept = readFunnel(job)?.documents.kept ?? 0;
      return (
        <span title={`${formatCount(kept)} of ${formatCount(job.documents_done)} documents`}>
          {formatShortCount(kept)} · {formatShare(kept, job.documents_done)}
        </span>
      );
    },
  },
  {
    id: "when",
    header: "Ended",
    look: "fit",
    cell: (job) => (job.finished_at ? <Moment at={job.finished_at} /> : "–"),
  },
];

export function RecentRuns({ runs }: { runs: readonly JobDetail[] }) {
  return (
    <Section title="Recent jobs" actions={<Link href="/jobs">All jobs</Link>}>
      {runs.length > 1 && (
        <Suspense>
          <TrendChart runs={runs} />
        </Suspense>
      )}
      <DataTable label="Recent jobs" columns={COLUMNS} rows={runs} keyOf={(job) => job.id} />
    </Section>
  );
}
