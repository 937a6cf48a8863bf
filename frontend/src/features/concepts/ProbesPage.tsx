import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { exportChoicesQuery, hasFiles, type ExportView } from "@/api/exports";
import { recentJobsQuery, type JobView } from "@/api/jobs";
import { probesQuery, useRequestProbe, type Probe } from "@/api/probes";
import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { FieldRow, Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { tell } from "@/components/toasts";
import { formatInterval, formatLeakShare } from "@/words/concepts";
import { formatCount, plural } from "@/words/numbers";
import { readId } from "@/words/ids";
import styles from "./concepts.module.css";
import { readPercent } from "./percent";
import { describeProbe, nameProbed } from "./probe-words";
import { OPERATORS_PROBE } from "./roles";

const COLUMNS: readonly Column<Probe>[] = [
  {
    id: "probe",
    header: "Probe",
    look: "fit",
    cell: ({ id }) => <Link href={`/concepts/probes/${id}`}>Probe {id}</Link>,
  },
  { id: "of", header: "Of", cell: (probe) => nameProbed(probe) },
  { id: "state", header: "State", look: "fit", cell: (probe) => <StateBadge term={describeProbe(probe)} /> },
  {
    id: "leaking",
    header: "Mention a concept",
    look: "number",
    cell: ({ leaking, documents }) =>
      leaking === null || documents === null ? (
        "–"
      ) : (
        <span title={`${plural(leaking, "document")} of ${formatCount(documents)}`}>
          {formatCount(leaking)} of {formatCount(documents)}
        </span>
      ),
  },
  {
    id: "share",
    header: "Share",
    look: "number",
    cell: ({ share, interval }) =>
      share === null || interval === null ? (
        "–"
      ) : (
        <span title={`Of the documents that were read; of others like them ${formatInterval(interval)}.`}>
          {formatLeakShare(share)}
        </span>
      ),
  },
  {
    id: "version",
    header: "Catalogue",
    cell: ({ version }) => `version ${version}`,
    isSecondary: true,
  },
  { id: "by", header: "By", cell: ({ created_by }) => <bdi>{created_by}</bdi>, isSecondary: true },
  {
    id: "asked",
    header: "Asked",
    look: "fit",
    cell: ({ created_at }) => <Moment at={created_at} />,
    isSecondary: true,
  },
];

export default function ProbesPage() {
  const probes = useInfiniteQuery(probesQuery);
  const mayProbe = useIsAllowed("jobs");
  return (
    <Page
      title="Leak probes"
      purpose="Look for every concept of the catalogue in the text a job keeps, or in an export, before anybody trains on it."
      back={{ href: "/concepts", label: "Concepts" }}
    >
      <Section title="New probe" about="Every document is read to its end; how long that takes grows with the text.">
        {mayProbe ? <NewProbe /> : <p className={styles.muted}>{OPERATORS_PROBE}</p>}
      </Section>
      <Section title="All probes">
        <Loaded query={probes} what="the probes">
          {({ pages }) => {
            const rows = pages.flatMap(({ items }) => items);
            return rows.length > 0 ? (
              <DataTable
                label="All probes"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                onMore={probes.hasNextPage ? () => void probes.fetchNextPage() : undefined}
                isLoadingMore={probes.isFetchingNextPage}
              />
            ) : (
              <p className={styles.muted}>There was none yet.</p>
            );
          }}
        </Loaded>
      </Section>
    </Page>
  );
}

function NewProbe() {
  const jobs = useQuery(recentJobsQuery);
  const exports = useQuery(exportChoicesQuery);
  return (
    <Loaded query={jobs} what="the jobs">
      {({ items }) => (
        <Loaded query={exports} what="the exports">
          {(made) => {
            const finished = items.filter(({ state, kind }) => state === "succeeded" && kind === "curate");
            return <ProbeForm jobs={finished} exports={made.filter(hasFiles)} />;
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

function ProbeForm({ jobs, exports }: { jobs: readonly JobView[]; exports: readonly ExportView[] }) {
  const [address] = useSearchParams();
  const [, go] = useLocation();
  const exportId = readId(address.get("export"));
  const jobId = readId(address.get("job"));
  const first = exportId !== null ? `export ${exportId}` : jobId !== null ? `job ${jobId}` : null;
  const options = [
    ...exports.map(({ id, source, documents_written }) => ({
      value: `export ${id}`,
      label: `Export ${id}: ${source.name}`,
      description: `its curriculum; ${plural(documents_written, "document")} with the control`,
    })),
    ...jobs.map(({ id, source, profile }) => ({
      value: `job ${id}`,
      label: `What job ${id} keeps: ${source.name}`,
      description: `by ${profile.name} v${profile.version} and the rulings of now`,
    })),
  ];
  const [what, setWhat] = useState(first ?? options[0]?.value ?? null);
  const [percent, setPercent] = useState("");
  const request = useRequestProbe();
  const most = readPercent(percent);
  const isKnown = options.some(({ value }) => value === what);

  function start() {
    if (what === null || most === undefined) return;
    const [kind, id] = what.split(" ");
    const of = kind === "export" ? { export_id: Number(id) } : { base_job_id: Number(id) };
    request.mutate(
      { ...of, max_share: most },
      {
        onSuccess: (probe) => {
          tell(`Probe ${probe.id} is on its way.`);
          go(`/concepts/probes/${probe.id}`);
        },
      },
    );
  }

  if (options.length === 0) return <p className={styles.muted}>No job is done yet: there is nothing to probe.</p>;
  return (
    <Form onSubmit={start} label="New probe">
      <FieldRow>
        <SelectField label="What to probe" value={isKnown ? what : null} onChange={setWhat} options={options} />
        <TextField
          label="Compare with at most (%)"
          value={percent}
          onChange={setPercent}
          placeholder="nothing"
          error={most === undefined ? "Give a number from 0 to below 100, or nothing." : undefined}
          description="The answer says whether a larger share of the documents mentions a concept. 0.05 is one in 2,000."
        />
      </FieldRow>
      {request.error ? <ProblemMessage error={request.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={request.isPending || !isKnown || most === undefined}>
          {request.isPending ? "Asking…" : "Start the probe"}
        </Button>
      </FormButtons>
    </Form>
  );
}
