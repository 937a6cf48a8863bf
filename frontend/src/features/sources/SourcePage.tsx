import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useIsAllowed } from "@/api/roles";
import { rulesQuery } from "@/api/rules";
import {
  isBeingScanned,
  shardsQuery,
  sourceQuery,
  useRemoveSource,
  useScanSource,
  type Shard,
  type Source,
} from "@/api/sources";
import { Button, ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { ConfirmDialog } from "@/components/Dialog";
import { Facts, Figures } from "@/components/Figures";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { RuleForm } from "@/components/RuleForm";
import { RuleTable } from "@/components/RuleTable";
import { SourcePreview } from "@/components/SourcePreview";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { tell, tellError } from "@/components/toasts";
import { formatBytes, formatCount, formatShortCount } from "@/words/numbers";
import { SOURCE_STATES } from "@/words/terms";
import styles from "./sources.module.css";

export default function SourcePage() {
  const { id } = useParams<{ id: string }>();
  const source = useQuery(sourceQuery(Number(id)));
  const shown = source.data;
  return (
    <Page
      title={shown?.name ?? "Source"}
      purpose="What is known of this source: its files, its first documents, and what is never kept of it."
      badge={shown && <StateBadge term={SOURCE_STATES[shown.state]} />}
      back={{ href: "/sources", label: "Sources" }}
      actions={shown && <SourceActions source={shown} />}
    >
      <Loaded query={source} what="the source">
        {(found) => <SourceContent source={found} />}
      </Loaded>
    </Page>
  );
}

function SourceActions({ source }: { source: Source }) {
  const [, go] = useLocation();
  const [isRemoving, setIsRemoving] = useState(false);
  const scan = useScanSource(source.id);
  const remove = useRemoveSource(source.id);
  const maySources = useIsAllowed("sources");
  const mayJobs = useIsAllowed("jobs");
  return (
    <>
      {mayJobs && source.state === "ready" && (
        <ButtonLink href={`/jobs/new?source=${source.id}`} look="primary">
          New job
        </ButtonLink>
      )}
      {maySources && !isBeingScanned(source) && (
        <Button
          isDisabled={scan.isPending}
          onPress={() =>
            scan.mutate(undefined, { onSuccess: () => tell("A worker will look at it again."), onError: tellError })
          }
        >
          Look again
        </Button>
      )}
      {maySources && (
        <Button look="danger" onPress={() => setIsRemoving(true)}>
          Remove
        </Button>
      )}
      <ConfirmDialog
        title={`Remove ${source.name}?`}
        isOpen={isRemoving}
        onClose={() => setIsRemoving(false)}
        confirm="Remove the source"
        isDangerous
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () => {
              tell(`${source.name} is removed.`);
              go("/sources");
            },
          })
        }
      >
        <p>The service forgets it; its files stay. A source that jobs were made from cannot be removed.</p>
      </ConfirmDialog>
    </>
  );
}

function SourceContent({ source }: { source: Source }) {
  return (
    <>
      {source.error && (
        <p className={styles.error} role="alert">
          {source.error}
        </p>
      )}
      <Section title="At a glance">
        <Figures
          figures={[
            {
              label: "Documents",
              value: source.row_count === null ? "unknown" : formatShortCount(source.row_count),
              exact: source.row_count === null ? undefined : formatCount(source.row_count),
              meaning: "Rows of all files. Compressed lines of JSON are counted only when they are read.",
            },
            {
              label: "Files",
              value: source.shard_count === null ? "unknown" : formatCount(source.shard_count),
              meaning: "Each file is read as it was when it was looked at; a file that changed is noticed.",
            },
            {
              label: "Size",
              value: source.size_bytes === null ? "unknown" : formatBytes(source.size_bytes),
              meaning: "Bytes of all files, as they are stored.",
            },
          ]}
        />
        <Facts
          facts={[
            {
              label: source.locations.length > 1 ? "Places" : "Place",
              value: (
                <ul className={styles.places}>
                  {source.locations.map((place) => (
                    <li key={place}>
                      <code>{place}</code>
                    </li>
                  ))}
                </ul>
              ),
            },
            ...(source.config ? [{ label: "Configuration", value: source.config }] : []),
            ...(source.split ? [{ label: "Split", value: source.split }] : []),
            { label: "Column with the text", value: <code>{source.text_field}</code> },
            {
              label: "Registered",
              value: (
                <>
                  <Moment at={source.created_at} /> by {source.created_by}
                </>
              ),
            },
            ...(source.scanned_at ? [{ label: "Looked at", value: <Moment at={source.scanned_at} /> }] : []),
          ]}
        />
      </Section>
      {isBeingScanned(source) ? (
        <Section title="A worker is looking at it">
          <p role="status">Files are being listed and counted. This page shows them as soon as that is done.</p>
        </Section>
      ) : (
        <>
          {source.state === "ready" && (
            <Section title="First documents" about="What is there, as it is. Long texts are cut short here.">
              <SourcePreview source={source} />
            </Section>
          )}
          <Shards source={source} />
        </>
      )}
      <Rules source={source} />
    </>
  );
}

const SHARD_COLUMNS: readonly Column<Shard>[] = [
  {
    id: "name",
    header: "File",
    cell: ({ name, error }) => (
      <>
        {name}
        {error && <p className={styles.error}>{error}</p>}
      </>
    ),
  },
  {
    id: "documents",
    header: "Documents",
    look: "number",
    cell: ({ row_count }) => (row_count === null ? "–" : formatCount(row_count)),
  },
  {
    id: "size",
    header: "Size",
    look: "number",
    cell: ({ size_bytes }) => (size_bytes === null ? "–" : formatBytes(size_bytes)),
  },
  {
    id: "hash",
    header: "SHA-256",
    look: "fit",
    isSecondary: true,
    cell: ({ sha256 }) => (sha256 === null ? "–" : <code title={sha256}>{sha256.slice(0, 12)}…</code>),
  },
];

function Shards({ source }: { source: Source }) {
  const shards = useInfiniteQuery(shardsQuery(source.id));
  return (
    <Section title="Files">
      <Loaded query={shards} what="the files">
        {({ pages }) => (
          <DataTable
            label="Files of the source"
            columns={SHARD_COLUMNS}
            rows={pages.flatMap(({ items }) => items)}
            keyOf={({ position }) => position}
            onMore={shards.hasNextPage ? () => void shards.fetchNextPage() : undefined}
            isLoadingMore={shards.isFetchingNextPage}
          />
        )}
      </Loaded>
    </Section>
  );
}

function Rules({ source }: { source: Source }) {
  const rules = useQuery(rulesQuery(source.id));
  const [isAdding, setIsAdding] = useState(false);
  const mayAdd = useIsAllowed("sources");
  return (
    <Section
      title="Never kept"
      about={
        <>
          Sites, addresses and licences whose documents no job keeps, whatever anybody rules. Those for all sources are
          managed under <Link href="/admin/rules">Admin</Link>.
        </>
      }
      actions={
        mayAdd && (
          <Button isSmall onPress={() => setIsAdding(true)}>
            Add a rule
          </Button>
        )
      }
    >
      <Loaded query={rules} what="the rules">
        {(found) =>
          found.length > 0 ? <RuleTable rules={found} /> : <p className={styles.muted}>No rule binds this source.</p>
        }
      </Loaded>
      <RuleForm isOpen={isAdding} onClose={() => setIsAdding(false)} source={source} />
    </Section>
  );
}
