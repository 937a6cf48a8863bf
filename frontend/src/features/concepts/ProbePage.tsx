import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { conceptsQuery, type Concept } from "@/api/catalogues";
import { isOver, jobQuery } from "@/api/jobs";
import { probeQuery, type Leak, type ProbeDetail } from "@/api/probes";
import { Concordance } from "@/components/Concordance";
import { Facts, Figures, type Fact } from "@/components/Figures";
import { JobProgress } from "@/components/JobProgress";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { describeGrades, describeSubject, formatInterval, formatLeakShare, INTERVAL_MEANING } from "@/words/concepts";
import { describeRulings } from "@/words/exports";
import { formatCount, formatShare, plural } from "@/words/numbers";
import styles from "./concepts.module.css";
import { describeProbe, nameProbed, sayLimit } from "./probe-words";
import { Published } from "./Published";

export default function ProbePage() {
  const { id } = useParams<{ id: string }>();
  const found = useQuery(probeQuery(Number(id)));
  const shown = found.data;
  return (
    <Page
      title={`Probe ${id}${shown ? `: ${nameProbed(shown)}` : ""}`}
      purpose="Which concepts beyond grade 5 the text mentions, in how many documents, and where."
      badge={shown && <StateBadge term={describeProbe(shown)} />}
      back={{ href: "/concepts/probes", label: "Leak probes" }}
    >
      <Loaded query={found} what="the probe">
        {(probe) => <ProbeContent probe={probe} />}
      </Loaded>
    </Page>
  );
}

function ProbeContent({ probe }: { probe: ProbeDetail }) {
  return (
    <>
      {probe.error && (
        <div role="alert" aria-label="Why the probe failed" className={styles.failure}>
          <p>{probe.error}</p>
          {probe.hint && <p>{probe.hint}</p>}
        </div>
      )}
      {!isOver(probe) && <Progress jobId={probe.job_id} />}
      <div className={styles.two}>
        <Result probe={probe} />
        <Section title="What was asked">
          <Facts facts={describeRequest(probe)} />
        </Section>
      </div>
      {probe.concepts && <Found probe={probe} leaks={probe.concepts} />}
    </>
  );
}

function Progress({ jobId }: { jobId: number }) {
  const job = useQuery(jobQuery(jobId));
  return (
    <Section title="Progress" actions={<Link href={`/jobs/${jobId}`}>Job {jobId}</Link>}>
      <Loaded query={job} what="the job">
        {(found) =>
          found.documents_total > 0 ? (
            <JobProgress job={found} />
          ) : (
            <p role="status">
              {found.state === "queued" ? "It begins when a worker is free." : "Every document is being read."}
            </p>
          )
        }
      </Loaded>
    </Section>
  );
}

function Result({ probe }: { probe: ProbeDetail }) {
  const { documents, leaking, share, interval, published } = probe;
  const limit = sayLimit(probe);
  return (
    <Section title="What leaks">
      {documents === null || leaking === null || share === null || interval === null ? (
        <p className={styles.muted}>
          {isOver(probe) ? "Nothing was found out." : "It is told once every document is read."}
        </p>
      ) : (
        <>
          {limit && (
            <p className={probe.is_above ? styles.failure : styles.good} role="status">
              {limit}
            </p>
          )}
          <Figures
            figures={[
              {
                label: "Mention a concept",
                value: formatCount(leaking),
                unit: `of ${formatCount(documents)}`,
                meaning: "Any concept of the catalogue counts; every document was read.",
              },
              {
                label: "Share",
                value: formatLeakShare(share),
                exact: `${leaking} of ${documents}`,
                meaning: "Of the documents that were read.",
              },
              {
                label: "Others like them",
                value: formatInterval(interval),
                meaning: INTERVAL_MEANING,
              },
            ]}
          />
          <Published published={published} />
        </>
      )}
    </Section>
  );
}

function describeRequest(probe: ProbeDetail): Fact[] {
  const { export_id, base_job_id, version, max_share, overrides_revision, created_by, created_at, finished_at } = probe;
  return [
    {
      label: "Of",
      value:
        export_id === null ? (
          <Link href={`/jobs/${base_job_id}`}>what job {base_job_id} keeps</Link>
        ) : (
          <Link href={`/exports/${export_id}`}>export {export_id}</Link>
        ),
    },
    { label: "Catalogue", value: `version ${version}`, meaning: "The version whose concepts were looked for." },
    ...(export_id === null ? [{ label: "Rulings", value: describeRulings(overrides_revision) }] : []),
    {
      label: "Compared with",
      value: max_share === null ? "nothing" : `at most ${formatLeakShare(max_share)}`,
      meaning: "The largest share of documents that may mention a concept.",
    },
    { label: "Asked by", value: <bdi>{created_by}</bdi> },
    { label: "Asked", value: <Moment at={created_at} /> },
    ...(finished_at ? [{ label: "Ended", value: <Moment at={finished_at} /> }] : []),
  ];
}

function Found({ probe, leaks }: { probe: ProbeDetail; leaks: readonly Leak[] }) {
  const concepts = useQuery(conceptsQuery(probe.version));
  if (leaks.length === 0) {
    return <EmptyState title="No concept was found">No document mentions a concept of the catalogue.</EmptyState>;
  }
  return (
    <Section
      title="Hits by concept"
      about={`${plural(leaks.length, "concept")}, those in most documents first; of each some places are shown, one a document.`}
    >
      <Loaded query={concepts} what="the catalogue">
        {(known) => (
          <ul className={styles.hits} aria-label="Hits by concept">
            {leaks.map((leak, place) => (
              <li key={leak.concept}>
                <Hit
                  leak={leak}
                  concept={known.get(leak.concept)}
                  documents={probe.documents ?? 0}
                  probe={probe}
                  isOpen={place < 3}
                />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

interface HitProps {
  leak: Leak;
  concept: Concept | undefined;
  documents: number;
  probe: ProbeDetail;
  isOpen: boolean;
}

function Hit({ leak, concept, documents, probe, isOpen }: HitProps) {
  return (
    <details className={styles.hit} open={isOpen}>
      <summary>
        <bdi>{concept?.name ?? leak.concept}</bdi>
        <span className={styles.muted}>
          {concept && `${describeSubject(concept.subject)} · ${describeGrades(concept.band).label}`}
          {concept?.standard ? ` · ${concept.standard}` : ""}
        </span>
        <span
          className={styles.numeric}
          title={`${plural(leak.hits, "place")}; ${formatShare(leak.documents, documents)} of the documents`}
        >
          {plural(leak.documents, "document")}
        </span>
      </summary>
      <p className={styles.muted}>
        <Link href={`/concepts/${probe.base_job_id}?at=${leak.concept}`}>What the boundary does to it</Link>
      </p>
      <Concordance
        label={`Places of ${concept?.name ?? leak.concept}`}
        lines={leak.lines.map((line) => ({
          key: `${line.shard} ${line.row} ${line.start}`,
          left: line.left,
          match: line.hit,
          right: line.right,
          domain: line.domain,
        }))}
      />
    </details>
  );
}
