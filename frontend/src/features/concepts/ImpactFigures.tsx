import { Link } from "wouter";
import type { CatalogueImpact, RunImpact } from "@/api/catalogues";
import { Concordance } from "@/components/Concordance";
import { Figures, type Figure } from "@/components/Figures";
import { formatCount, plural } from "@/words/numbers";
import type { Outcome } from "@/words/outcomes";
import styles from "./concepts.module.css";

/** What must be measured again, what goes with removed concepts, and what comes and goes in documents that were read. */
export function ImpactFigures({ impact }: { impact: CatalogueImpact }) {
  const { diff, measured_jobs, run } = impact;
  const again = diff.remeasured.length;
  return (
    <>
      <p role="status">
        {again === 0
          ? "Nothing must be looked for again: what the new version finds is known."
          : `${plural(again, "concept")} must be looked for again; what the others find is copied.`}{" "}
        {measured_jobs.length > 0 && (
          <span className={styles.muted}>
            Measured with version {diff.before} are {measured_jobs.length === 1 ? "job " : "jobs "}
            {measured_jobs.map((id, place) => (
              <span key={id}>
                {place > 0 && ", "}
                <Link href={`/concepts/${id}`}>{id}</Link>
              </span>
            ))}
            : each keeps its numbers until it is measured with the new one.
          </span>
        )}
      </p>
      {run ? (
        <RunFigures run={run} nameOf={(id) => nameConcept(impact, id)} />
      ) : (
        <p className={styles.muted}>Choose a job to see what comes and goes in its documents.</p>
      )}
    </>
  );
}

function nameConcept({ diff }: CatalogueImpact, id: string): string {
  const change = diff.changes.find((other) => other.id === id);
  return (change?.after ?? change?.before)?.name ?? id;
}

function RunFigures({ run, nameOf }: { run: RunImpact; nameOf: (id: string) => string }) {
  const { documents, documents_to_read, sample, sample_documents, lines } = run;
  const moved = sample.filter(({ gained, lost }) => gained > 0 || lost > 0);
  const removed: Figure[] =
    run.removed_documents === null || (run.removed_documents === 0 && !sample.some(({ lost }) => lost > 0))
      ? []
      : [
          {
            label: "Mention a removed concept",
            value: formatCount(run.removed_documents),
            unit: "documents",
            meaning: "They would no longer count for it.",
          },
          {
            label: "And no other",
            value: formatCount(run.removed_alone ?? 0),
            unit: `${formatCount(run.removed_alone_kept ?? 0)} kept`,
            meaning: "Documents that would mention no concept of the catalogue any more.",
          },
        ];
  return (
    <>
      <Figures
        figures={[
          {
            label: "To be read again",
            value: formatCount(documents_to_read),
            unit: `of ${plural(documents, "document")}`,
            meaning: "Every document is read where a concept must be looked for, none where all is known.",
          },
          {
            label: "Parts to measure",
            value: formatCount(run.slices_to_measure),
            unit: `of ${formatCount(run.slices)}`,
            meaning: "Pieces that a worker takes one after the other. Without new words they are copied.",
          },
          ...removed,
        ]}
      />
      {sample_documents > 0 && (
        <section className={styles.part} aria-label="In documents that were read">
          <h3>In {plural(sample_documents, "document")} that were read now</h3>
          {moved.length > 0 ? (
            <ul className={styles.causes} aria-label="What comes and goes">
              {moved.map(({ concept, gained, lost }) => (
                <li key={concept}>
                  <bdi>{nameOf(concept)}</bdi>
                  <span className={styles.numeric} title="Documents of these that would mention it and do not now.">
                    {plural(gained, "document")} more
                  </span>
                  <span className={styles.numeric} title="Documents of these that mention it and would no longer.">
                    {plural(lost, "document")} less
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <p className={styles.muted}>Nothing changes in them.</p>
          )}
          {lines.length > 0 && (
            <Concordance
              label="Places that come or go"
              lines={lines.map((line) => ({
                key: `${line.change} ${line.concept} ${line.position} ${line.left} ${line.hit}`,
                left: line.left,
                match: line.hit,
                right: line.right,
                domain: `document ${formatCount(line.position + 1)}`,
                outcome: line.outcome as Outcome,
                note: `${line.change === "gained" ? "comes in" : "goes out"}: ${nameOf(line.concept)}`,
                href: `/documents/${run.job_id}?at=${line.position}`,
              }))}
            />
          )}
        </section>
      )}
    </>
  );
}
