import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { placeQuery } from "@/api/documents";
import { readableJobsQuery, type JobView } from "@/api/jobs";
import { lastRulingsQuery, type Verb } from "@/api/rulings";
import { DataTable, type Column } from "@/components/DataTable";
import { nameRow } from "@/components/DocumentGrid";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { plural } from "@/words/numbers";
import type { StateTerm } from "@/words/terms";
import { chooseSources, mergeRulings, type SourceRuling } from "./last-rulings";
import styles from "./overview.module.css";

const MOST = 5;
const MOST_SOURCES = 6;

const RULED: Record<Verb, StateTerm> = {
  keep: { label: "Keep", tone: "good", meaning: "Kept, whatever the profile says." },
  exclude: { label: "Exclude", tone: "bad", meaning: "Excluded, whatever the profile says." },
  undo: { label: "Undo", tone: "neutral", meaning: "An earlier ruling no longer holds: the profile decides." },
};

const COLUMNS: readonly Column<SourceRuling>[] = [
  { id: "what", header: "Ruling", look: "fit", cell: ({ action }) => <StateBadge term={RULED[action]} /> },
  { id: "document", header: "Document", look: "wide", cell: (ruling) => <RuledDocument ruling={ruling} /> },
  { id: "reason", header: "Reason", look: "wide", cell: ({ reason }) => <bdi>{reason}</bdi> },
  { id: "by", header: "By", look: "fit", cell: ({ author }) => author },
  { id: "when", header: "When", look: "fit", cell: ({ at }) => <Moment at={at} />, isSecondary: true },
];

export function LastRulings({ jobs }: { jobs: readonly JobView[] }) {
  const sources = chooseSources(jobs, MOST_SOURCES);
  const lists = useQueries({ queries: sources.map(({ id }) => lastRulingsQuery(id, MOST)) });
  const readable = useQueries({ queries: sources.map(({ id }) => readableJobsQuery(id)) });
  const rulings = mergeRulings(
    sources,
    lists.map(({ data }) => data ?? []),
    readable.map(({ data }) => data ?? []),
    MOST,
  );
  if (rulings.length === 0) return null;
  return (
    <Section title="Last rulings" about="What people decided of single documents, whatever a profile says of them.">
      <DataTable
        label="Last rulings"
        columns={COLUMNS}
        rows={rulings}
        keyOf={({ source, revision }) => `${source.id} ${revision}`}
      />
    </Section>
  );
}

/** Its name and the way to it, once the job that read it can be asked. */
function RuledDocument({ ruling }: { ruling: SourceRuling }) {
  const { source, jobId, shard_sha256, row, row_count } = ruling;
  return (
    <>
      {shard_sha256 === null || row === null ? (
        plural(row_count, "document")
      ) : jobId === null ? (
        nameUnread(row)
      ) : (
        <OneDocument job={jobId} shard={shard_sha256} row={row} />
      )}
      <div className={styles.of}>{source.name}</div>
    </>
  );
}

function OneDocument({ job, shard, row }: { job: number; shard: string; row: number }) {
  const { data: place } = useQuery(placeQuery(job, shard, row));
  if (!place) return nameUnread(row);
  return (
    <Link href={`/documents/${job}?at=${place.position}`}>
      <bdi>{nameRow(place)}</bdi>
    </Link>
  );
}

const nameUnread = (row: number) => `Document ${row + 1} of a file`;
