import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useIsAllowed } from "@/api/roles";
import { sourcesQuery, type Source } from "@/api/sources";
import { ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { formatBytes, formatCount, formatShortCount } from "@/words/numbers";
import { SOURCE_STATES } from "@/words/terms";

const COLUMNS: readonly Column<Source>[] = [
  {
    id: "name",
    header: "Source",
    cell: (source) => <Link href={`/sources/${source.id}`}>{source.name}</Link>,
    sortBy: ({ name }) => name,
  },
  { id: "state", header: "State", cell: (source) => <StateBadge term={SOURCE_STATES[source.state]} />, look: "fit" },
  {
    id: "documents",
    header: "Documents",
    look: "number",
    cell: ({ row_count }) =>
      row_count === null ? "–" : <span title={formatCount(row_count)}>{formatShortCount(row_count)}</span>,
    sortBy: ({ row_count }) => row_count ?? -1,
  },
  {
    id: "files",
    header: "Files",
    look: "number",
    cell: ({ shard_count }) => (shard_count === null ? "–" : formatCount(shard_count)),
    sortBy: ({ shard_count }) => shard_count ?? -1,
  },
  {
    id: "size",
    header: "Size",
    look: "number",
    cell: ({ size_bytes }) => (size_bytes === null ? "–" : formatBytes(size_bytes)),
    sortBy: ({ size_bytes }) => size_bytes ?? -1,
  },
  { id: "by", header: "Registered by", cell: ({ created_by }) => created_by, isSecondary: true },
  {
    id: "when",
    header: "Registered",
    cell: ({ created_at }) => <Moment at={created_at} />,
    look: "fit",
    isSecondary: true,
  },
];

export default function SourcesPage() {
  const sources = useQuery(sourcesQuery);
  const mayRegister = useIsAllowed("sources");
  const register = mayRegister && (
    <ButtonLink href="/sources/new" look="primary">
      Register a source
    </ButtonLink>
  );
  return (
    <Page
      title="Sources"
      purpose="Where documents come from. Their files are read and never changed."
      actions={register}
    >
      <Loaded query={sources} what="the sources">
        {(found) =>
          found.length > 0 ? (
            <Section title="All sources">
              <DataTable label="Sources" columns={COLUMNS} rows={found} keyOf={({ id }) => id} />
            </Section>
          ) : (
            <EmptyState title="There are no sources yet" action={register}>
              A source names files, folders, addresses or a data set of the Hugging Face Hub. It is looked at once, so
              that jobs know what is there.
            </EmptyState>
          )
        }
      </Loaded>
    </Page>
  );
}
