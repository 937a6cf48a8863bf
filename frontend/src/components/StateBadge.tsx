import type { StateTerm } from "@/words/terms";
import styles from "./badge.module.css";

/** A state in its colour, shape and word; the meaning on hover. */
export function StateBadge({ term }: { term: StateTerm }) {
  return (
    <span className={`${styles.badge} ${styles[term.tone] ?? ""}`} title={term.meaning}>
      <span className={styles.dot} aria-hidden />
      {term.label}
    </span>
  );
}
