import { Link } from "wouter";
import type { ConceptReport } from "@/api/concepts";
import { Figures } from "@/components/Figures";
import { formatInterval, formatLeakShare, INTERVAL_MEANING } from "@/words/concepts";
import { formatCount, plural } from "@/words/numbers";
import styles from "./concepts.module.css";
import { Published } from "./Published";

interface OverviewProps {
  jobId: number;
  profileId: number | null;
  report: ConceptReport;
  nameOf: (concept: string) => string;
  onConcept: (concept: string) => void;
}

const MOST_NAMED = 4;

/** All concepts together: what leaks into kept text, and the documents that somebody should read. */
export function Overview({ jobId, profileId, report, nameOf, onConcept }: OverviewProps) {
  const { documents, kept, leaking, leak_share, leak_interval, to_judge } = report;
  const found = report.concepts.filter((counts) => counts.documents > 0).length;
  const profile = profileId === null ? "" : `&profile=${profileId}`;
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
    <section className={styles.pane} aria-label="All concepts" tabIndex={0}>
      <header className={styles.paneTitle}>
        <h2>What leaks into kept text</h2>
        <p className={styles.muted}>
          Choose a concept to read where it stands. <kbd>j</kbd> and <kbd>k</kbd> go from one to the next, <kbd>?</kbd>{" "}
          lists every key.
        </p>
      </header>
      <Figures
        figures={[
          {
            label: "Kept with a concept",
            value: formatCount(leaking),
            unit: formatLeakShare(leak_share),
            meaning: `Kept documents that mention any concept of the catalogue, and their share of all ${formatCount(kept)}.`,
          },
          {
            label: "Others like them",
            value: formatInterval(leak_interval),
            meaning: INTERVAL_MEANING,
          },
          {
            label: "Concepts found",
            value: formatCount(found),
            unit: `of ${formatCount(report.concepts.length)}`,
            meaning: `Concepts of version ${report.version} that any of the job's ${formatCount(documents)} documents mentions, kept or not.`,
          },
        ]}
      />
      <Published published={report.published} />
      <section className={styles.part} aria-label="Documents to judge">
        <h3>Documents to judge</h3>
        {to_judge.length > 0 ? (
          <>
            <p className={styles.muted}>Kept, and they mention concepts: those with the most come first.</p>
            <ol className={styles.judge}>
              {to_judge.map(({ position, url, doc_id, concepts, hits }) => (
                <li key={position}>
                  <Link href={`/documents/${jobId}?at=${position}${profile}`}>
                    <bdi dir="auto">{url ?? doc_id ?? `document ${formatCount(position + 1)}`}</bdi>
                  </Link>
                  <span className={styles.muted} title={`${plural(hits, "place")} in the text`}>
                    {concepts.slice(0, MOST_NAMED).map((concept, place) => (
                      <span key={concept}>
                        {place > 0 && ", "}
                        <button type="button" className={styles.link} onClick={() => onConcept(concept)}>
                          {nameOf(concept)}
                        </button>
                      </span>
                    ))}
                    {concepts.length > MOST_NAMED && ` and ${concepts.length - MOST_NAMED} more`}
                  </span>
                </li>
              ))}
            </ol>
          </>
        ) : (
          <p className={styles.muted}>No kept document mentions a concept of the catalogue.</p>
        )}
      </section>
    </section>
  );
}
