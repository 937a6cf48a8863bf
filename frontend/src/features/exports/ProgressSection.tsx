import { Link } from "wouter";
import type { ExportDetail } from "@/api/exports";
import { Figures } from "@/components/Figures";
import { Section } from "@/components/Page";
import { formatBytes, formatCount, formatShortCount } from "@/words/numbers";
import styles from "./exports.module.css";
import { findStep, STEPS } from "./steps";

/** How far an export is that is being made. Nobody knows before the end how much it will be. */
export function ProgressSection({ found }: { found: ExportDetail }) {
  const current = findStep(found);
  return (
    <Section title="Progress" actions={<Link href={`/jobs/${found.job_id}`}>Job {found.job_id}</Link>}>
      <ol className={styles.steps} aria-label="Steps">
        {STEPS.map((step, place) => (
          <li
            key={step}
            aria-current={place === current ? "step" : undefined}
            className={place < current ? styles.past : undefined}
          >
            {step}
          </li>
        ))}
      </ol>
      <Figures
        figures={[
          {
            label: "Documents written",
            value: formatShortCount(found.documents_written),
            exact: formatCount(found.documents_written),
            meaning: "So far, of the curriculum and its control together.",
          },
          {
            label: "Tokens written",
            value: formatShortCount(found.tokens_written),
            exact: formatCount(found.tokens_written),
            meaning: "Pieces of words, as language models count text, in these documents.",
          },
          {
            label: "Size so far",
            value: formatBytes(found.bytes_written),
            meaning: "Of the files that are finished, compressed.",
          },
        ]}
      />
    </Section>
  );
}
