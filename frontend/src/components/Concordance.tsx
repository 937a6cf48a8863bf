import type { ReactNode } from "react";
import { Link } from "wouter";
import { OUTCOMES, type Outcome } from "@/words/outcomes";
import styles from "./concordance.module.css";
import { PlainText } from "./reading/PlainText";

export interface ConcordanceLine {
  key: string;
  left: string;
  match: string;
  right: string;
  domain: string;
  outcome?: Outcome;
  /** What else is to be said of the place, in plain words. */
  note?: ReactNode;
  /** Where the document can be read. */
  href?: string;
}

interface ConcordanceProps {
  label: string;
  lines: readonly ConcordanceLine[];
}

/** Places in documents, one below the other: what was found in the middle, the text beside it left and right. Text is only
 * ever text here, each part held in its own direction. */
export function Concordance({ label, lines }: ConcordanceProps) {
  return (
    <ol className={styles.lines} aria-label={label}>
      {lines.map((line) => (
        <li key={line.key} className={styles.line}>
          <div className={styles.text} dir="ltr">
            <span className={styles.left}>
              <bdi dir="auto">
                <PlainText text={line.left} />
              </bdi>
            </span>
            <mark className={styles.match}>
              <bdi dir="auto">
                <PlainText text={line.match} />
              </bdi>
            </mark>
            <span className={styles.right}>
              <bdi dir="auto">
                <PlainText text={line.right} />
              </bdi>
            </span>
          </div>
          <div className={styles.place}>
            {line.outcome && (
              <span className={styles[line.outcome]} title={OUTCOMES[line.outcome].meaning}>
                {OUTCOMES[line.outcome].label}
              </span>
            )}
            <span className={styles.domain}>
              {line.href ? <Link href={line.href}>{nameSite(line.domain)}</Link> : nameSite(line.domain)}
            </span>
            {line.note && <span>{line.note}</span>}
          </div>
        </li>
      ))}
    </ol>
  );
}

function nameSite(domain: string): ReactNode {
  return domain ? (
    <bdi dir="auto">
      <PlainText text={domain} />
    </bdi>
  ) : (
    "no site"
  );
}
