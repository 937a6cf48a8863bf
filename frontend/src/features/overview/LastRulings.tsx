import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ruledDocumentsQuery } from "@/api/documents";
import type { JobView } from "@/api/jobs";
import { lastRulingsQuery, type Verb } from "@/api/rulings";
import { DataTable, type Column } from "@/components/DataTable";
import { nameRow } from "@/components/DocumentGrid";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { plural } from "@/words/numbers";
import type { StateTerm } from "@/words/terms";
import { chooseJobs, mergeRulings, type SourceRuling } from "./last-rulings";
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
  const chosen = chooseJobs(jobs, MOST_SOURCES);
  const lists = useQueries({ queries: chosen.map(({ source }) => lastRulingsQuery(source.id, MOST)) });
  const rulings = mergeRulings(
    chosen,
    lists.map(({ data }) => data ?? []),
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

/** Its name and the way to it, once the job's documents can be asked. */
function RuledDocument({ ruling }: { ruling: SourceRuling }) {
  const { source, jobId, shard_sha256, row, row_count, is_bulk } = ruling;
  const ruled = useQuery({ ...ruledDocumentsQuery(jobId), enabled: !is_bulk });
  const found = ruled.data?.find((one) => one.shard_sha256 === shard_sha256 && one.row === row);
  return (
    <>
      {is_bulk ? (
        plural(row_count, "document")
      ) : found ? (
        <Link href={`/documents/${jobId}?at=${found.position}`}>
          <bdi>{nameRow(found)}</bdi>
        </Link>
      ) : (
        `Document ${(row ?? 0) + 1} of a file`
      )}
      <div className={styles.of}>{source.name}</div>
    </>
  );
}
