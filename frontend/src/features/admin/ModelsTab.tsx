import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { useSearchParams } from "wouter";
import { artifactsQuery, cardQuery, reportQuery, type Artifact, type ArtifactKind } from "@/api/artifacts";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { Explained } from "@/components/Explained";
import { lazyPart } from "@/components/lazy-part";
import { Section } from "@/components/Page";
import { Loaded, Loading } from "@/components/states";
import { formatBytes, formatCount } from "@/words/numbers";
import { ARTIFACTS, REPORTS } from "@/words/service";
import styles from "./admin.module.css";

const MarkdownText = lazyPart<{ text: string }>(() => import("@/components/MarkdownText"));

export function ModelsTab() {
  const artifacts = useQuery(artifactsQuery);
  const [query, setQuery] = useSearchParams();
  const card = query.get("card");
  const report = query.get("report");
  return (
    <Loaded query={artifacts} what="the models and tables">
      {({ items, reports }) => (
        <>
          <Section
            title="Models and tables"
            about="What documents are measured with. They come with the service and are never changed by it; every run and export names them by their fingerprint."
          >
            <DataTable
              label="Models and tables"
              columns={describeColumns((kind) => setQuery({ card: kind }))}
              rows={items}
              keyOf={({ kind }) => kind}
            />
          </Section>
          <Section title="Reports" about="How well they do, measured on texts that they were not made from.">
            <div className={styles.rowStart}>
              {reports.map((name) => (
                <Button key={name} isSmall onPress={() => setQuery({ report: name })}>
                  {REPORTS[name]?.label ?? name}
                </Button>
              ))}
            </div>
          </Section>
          {items.some(({ kind }) => kind === card) && <CardSection key={card} kind={card as ArtifactKind} />}
          {report !== null && reports.includes(report) && <ReportSection key={report} name={report} />}
        </>
      )}
    </Loaded>
  );
}

function describeColumns(show: (kind: ArtifactKind) => void): Column<Artifact>[] {
  return [
    {
      id: "name",
      header: "Name",
      cell: ({ kind }) => <Explained meaning={ARTIFACTS[kind].meaning}>{ARTIFACTS[kind].label}</Explained>,
    },
    { id: "file", header: "File", look: "fit", cell: ({ file }) => <code>{file}</code>, isSecondary: true },
    {
      id: "size",
      header: "Size",
      look: "number",
      cell: ({ size_bytes }) => <span title={`${formatCount(size_bytes)} bytes`}>{formatBytes(size_bytes)}</span>,
      sortBy: ({ size_bytes }) => size_bytes,
    },
    {
      id: "licence",
      header: "Licence",
      cell: ({ licence }) => licence ?? <span title="It stands in the notice.">see its notice</span>,
    },
    {
      id: "hash",
      header: "Fingerprint",
      look: "fit",
      cell: ({ sha256 }) => <code title={`SHA-256: ${sha256}`}>{sha256.slice(0, 12)}…</code>,
    },
    { id: "made", header: "Made on", look: "fit", cell: ({ made_on }) => made_on ?? "–", isSecondary: true },
    {
      id: "card",
      header: "Card",
      isHeaderHidden: true,
      look: "fit",
      cell: ({ kind, licence }) => {
        const text = licence === null ? "Notice" : "Card";
        return (
          <Button isSmall onPress={() => show(kind)} aria-label={`${text} of ${ARTIFACTS[kind].label}`}>
            {text}
          </Button>
        );
      },
    },
  ];
}

function CardSection({ kind }: { kind: ArtifactKind }) {
  const card = useQuery(cardQuery(kind));
  return (
    <Section title={`About: ${ARTIFACTS[kind].label}`} about={ARTIFACTS[kind].meaning}>
      <Loaded query={card} what="the card">
        {({ text, is_markdown, facts }) => (
          <>
            {is_markdown ? (
              <Suspense fallback={<Loading what="the card" />}>
                <MarkdownText text={text} />
              </Suspense>
            ) : (
              <pre className={styles.notice}>{text}</pre>
            )}
            {Object.keys(facts).length > 0 && (
              <details>
                <summary>Everything that it states of itself: training data, settings, scores</summary>
                {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well */}
                <pre className={styles.notice} tabIndex={0}>
                  {JSON.stringify(facts, null, 2)}
                </pre>
              </details>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function ReportSection({ name }: { name: string }) {
  const report = useQuery(reportQuery(name));
  return (
    <Section title={REPORTS[name]?.label ?? name} about={REPORTS[name]?.meaning}>
      <Loaded query={report} what="the report">
        {({ text }) => (
          <Suspense fallback={<Loading what="the report" />}>
            <MarkdownText text={text} />
          </Suspense>
        )}
      </Loaded>
    </Section>
  );
}
