import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { exportsQuery, type ExportView } from "@/api/exports";
import { useIsAllowed } from "@/api/roles";
import { ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { describeExportState, EXPORT_KINDS } from "@/words/exports";
import { formatBytes, formatCount, formatShortCount } from "@/words/numbers";
import styles from "./exports.module.css";
import { OPERATORS_ONLY } from "./operators";

const COLUMNS: readonly Column<ExportView>[] = [
  {
    id: "export",
    header: "Export",
    look: "fit",
    cell: ({ id }) => <Link href={`/exports/${id}`}>Export {id}</Link>,
  },
  {
    id: "run",
    header: "Job",
    cell: ({ base_job_id: job, source, kind }) => (
      <>
        <Link href={`/jobs/${job}`}>
          {job}: {source.name}
        </Link>
        <div className={styles.muted} title={EXPORT_KINDS[kind].meaning}>
          {EXPORT_KINDS[kind].label}
        </div>
      </>
    ),
  },
  {
    id: "profile",
    header: "Profile",
    cell: ({ profile }) => (
      <Link href={`/profiles/${profile.name}/${profile.version}`}>
        {profile.name} v{profile.version}
      </Link>
    ),
  },
  { id: "state", header: "State", look: "fit", cell: (one) => <StateBadge term={describeExportState(one)} /> },
  {
    id: "documents",
    header: "Documents",
    look: "number",
    cell: ({ documents_written: count }) => <span title={formatCount(count)}>{formatShortCount(count)}</span>,
  },
  {
    id: "tokens",
    header: "Tokens",
    look: "number",
    cell: ({ tokens_written: count }) => <span title={formatCount(count)}>{formatShortCount(count)}</span>,
  },
  {
    id: "size",
    header: "Size",
    look: "number",
    cell: ({ bytes_written: bytes }) => <span title={`${formatCount(bytes)} bytes`}>{formatBytes(bytes)}</span>,
  },
  { id: "by", header: "By", cell: ({ created_by }) => created_by, isSecondary: true },
  {
    id: "asked",
    header: "Asked",
    look: "fit",
    cell: ({ created_at }) => <Moment at={created_at} />,
    isSecondary: true,
  },
];

export default function ExportsPage() {
  const exports = useInfiniteQuery(exportsQuery);
  const mayExport = useIsAllowed("exports");
  const start = mayExport && (
    <ButtonLink href="/exports/new" look="primary">
      New export
    </ButtonLink>
  );
  return (
    <Page
      title="Exports"
      purpose="The files that training reads: what is kept, and unfiltered text to compare with."
      actions={
        <>
          <ButtonLink href="/exports/compare">Compare two</ButtonLink>
          {start}
        </>
      }
    >
      <Loaded query={exports} what="the exports">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          if (rows.length === 0) {
            return (
              <EmptyState
                title="There are no exports yet"
                action={
                  <ButtonLink href="/jobs" look="primary">
                    To the jobs
                  </ButtonLink>
                }
              >
                Every job that is done writes one. Later ones can be made here with another profile, or with the rulings
                of people.
              </EmptyState>
            );
          }
          return (
            <Section
              title="All exports"
              about={`Documents, tokens and size are of the curriculum and its control together.${mayExport ? "" : ` ${OPERATORS_ONLY}`}`}
            >
              <DataTable
                label="Exports"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                onMore={exports.hasNextPage ? () => void exports.fetchNextPage() : undefined}
                isLoadingMore={exports.isFetchingNextPage}
              />
            </Section>
          );
        }}
      </Loaded>
    </Page>
  );
}
