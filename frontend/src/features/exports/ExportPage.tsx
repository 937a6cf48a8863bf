import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { Link, useParams } from "wouter";
import { exportQuery, hasFiles, type ExportDetail, type ExportFile } from "@/api/exports";
import { isOver } from "@/api/jobs";
import { ButtonLink } from "@/components/Button";
import { CodeLines } from "@/components/CodeLines";
import { Facts, Figures, type Fact } from "@/components/Figures";
import { lazyPart } from "@/components/lazy-part";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { Loaded, Loading } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { describeExportState, describeRulings, EXPORT_KINDS, PARTS } from "@/words/exports";
import { formatBytes, formatCount, formatShare, formatShortCount, plural } from "@/words/numbers";
import { CONTROL_MATCHES } from "@/words/terms";
import { ChecksSection } from "./ChecksSection";
import { ExportActions } from "./ExportActions";
import styles from "./exports.module.css";
import { FilesSection } from "./FilesSection";
import { LeakSection } from "./LeakSection";
import { ProgressSection } from "./ProgressSection";
import { PushesSection } from "./PushesSection";

const CardView = lazyPart<{ card: string }>(() => import("./CardView"));

export default function ExportPage() {
  const { id } = useParams<{ id: string }>();
  const found = useQuery(exportQuery(Number(id)));
  const shown = found.data;
  return (
    <Page
      title={shown ? `Export ${shown.id}: ${shown.source.name}` : `Export ${id}`}
      purpose="What training reads: its files with their hashes, how to load them, and what checks of them found."
      badge={shown && <StateBadge term={describeExportState(shown)} />}
      back={{ href: "/exports", label: "Exports" }}
      actions={
        shown && (
          <>
            {hasFiles(shown) && <ButtonLink href={`/exports/compare?after=${shown.id}`}>Compare</ButtonLink>}
            <ExportActions found={shown} />
          </>
        )
      }
    >
      <Loaded query={found} what="the export">
        {(loaded) => <ExportContent found={loaded} />}
      </Loaded>
    </Page>
  );
}

function ExportContent({ found }: { found: ExportDetail }) {
  const { files, load, card } = found;
  return (
    <>
      {found.error && (
        <div role="alert" aria-label="Why the export failed" className={styles.failure}>
          <p>{found.error}</p>
          {found.hint && <p>{found.hint}</p>}
        </div>
      )}
      {found.deleted_at && (
        <p className={styles.muted}>
          {found.deleted_by} deleted its files <Moment at={found.deleted_at} />. The same export can be made again.
        </p>
      )}
      {!isOver(found) && <ProgressSection found={found} />}
      {files && <HoldingSection files={files} />}
      {files && <LeakSection found={found} />}
      {load && (
        <Section
          title="Load it in Python"
          about="On the machine of the service. Elsewhere, write the folder that you downloaded it to."
        >
          <CodeLines label="Python that loads the export" what="the lines" lines={load} />
        </Section>
      )}
      {files && <FilesSection exportId={found.id} files={files} />}
      <div className={styles.two}>
        <ChecksSection found={found} />
        <Section title="What was asked">
          <Facts facts={describeRequest(found)} />
        </Section>
      </div>
      <PushesSection found={found} />
      {card && (
        <Section title="Data set card" about="What travels with the files, for who finds them elsewhere.">
          <Suspense fallback={<Loading what="the card" />}>
            <CardView card={card} />
          </Suspense>
        </Section>
      )}
    </>
  );
}

function HoldingSection({ files }: { files: readonly ExportFile[] }) {
  const parts = Object.keys(PARTS).filter((part) => files.some(({ config }) => config === part));
  const sum = (part: string, count: (file: ExportFile) => number | null) =>
    files.filter(({ config }) => config === part).reduce((total, file) => total + (count(file) ?? 0), 0);
  const bytes = files.reduce((total, { size_bytes }) => total + size_bytes, 0);
  return (
    <Section title="What it holds">
      <Figures
        figures={[
          ...parts.flatMap((part) => {
            const rows = sum(part, (file) => file.rows);
            const tokens = sum(part, (file) => file.tokens);
            const { label = "", meaning = "" } = PARTS[part] ?? {};
            return [
              {
                label: `${label}, documents`,
                value: formatShortCount(rows),
                exact: formatCount(rows),
                meaning,
              },
              {
                label: `${label}, tokens`,
                value: formatShortCount(tokens),
                exact: formatCount(tokens),
                meaning: "Pieces of words, as language models count text.",
              },
            ];
          }),
          {
            label: `Size of ${plural(files.length, "file")}`,
            value: formatBytes(bytes),
            exact: `${formatCount(bytes)} bytes`,
            meaning: "Of all files together, compressed as they are on the disk.",
          },
        ]}
      />
    </Section>
  );
}

function describeRequest(found: ExportDetail): Fact[] {
  const { options, profile, source, kind } = found;
  return [
    { label: "Job", value: <Link href={`/jobs/${found.base_job_id}`}>job {found.base_job_id}</Link> },
    { label: "Source", value: <Link href={`/sources/${source.id}`}>{source.name}</Link> },
    {
      label: "Profile",
      value: (
        <Link href={`/profiles/${profile.name}/${profile.version}`}>
          {profile.name} v{profile.version}
        </Link>
      ),
    },
    {
      label: "Rulings",
      value: describeRulings(found.overrides_revision),
      meaning: "A ruling keeps or excludes a document whatever the profile says.",
    },
    ...(options ? describeOptions(options) : []),
    { label: "Kind", value: EXPORT_KINDS[kind].label.toLowerCase(), meaning: EXPORT_KINDS[kind].meaning },
    { label: "Asked by", value: found.created_by },
    { label: "Asked", value: <Moment at={found.created_at} /> },
    ...(found.finished_at ? [{ label: "Ended", value: <Moment at={found.finished_at} /> }] : []),
  ];
}

function describeOptions(options: NonNullable<ExportDetail["options"]>): Fact[] {
  const match = CONTROL_MATCHES[options.control_match];
  return [
    { label: "Control", value: match.label.toLowerCase(), meaning: match.meaning },
    ...(options.has_curriculum ? [] : [{ label: "Curriculum", value: "not written" }]),
    ...(typeof options.token_budget === "number"
      ? [{ label: "Most tokens", value: formatCount(options.token_budget) }]
      : []),
    ...(options.validation_share > 0
      ? [{ label: "Held back for validation", value: formatShare(options.validation_share, 1) }]
      : []),
    ...(typeof options.max_leak_share === "number"
      ? [
          {
            label: "Most leaks",
            value: `${Number((100 * options.max_leak_share).toPrecision(6))} % of documents`,
            meaning: "With more documents that mention a concept beyond grade 5 the export fails.",
          },
        ]
      : []),
    ...(typeof options.shuffle_seed === "number"
      ? [{ label: "Order", value: `mixed by the number ${options.shuffle_seed}` }]
      : []),
    {
      label: "Files end at",
      value: `${formatCount(options.shard_bytes / (1 << 20))} MiB`,
      meaning: `${formatCount(options.shard_bytes)} bytes, compressed.`,
    },
  ];
}
