import type { Ruling } from "@/api/rulings";
import { Moment } from "@/components/Moment";
import { plural } from "@/words/numbers";
import styles from "./documents.module.css";
import { VERBS } from "./ruling";

export function RulingHistory({ history }: { history: readonly Ruling[] }) {
  if (history.length === 0) return null;
  return (
    <section className={styles.history} aria-label="Rulings on this document">
      <h3>Rulings on this document</h3>
      <ol>
        {history.map(({ revision, author, action, at, reason, is_bulk, row_count }) => (
          <li key={revision}>
            <strong>{author}</strong> {VERBS[action].past} <Moment at={at} />
            {is_bulk ? `, with ${plural(row_count - 1, "other document")}` : ""}: <q>{reason}</q>
          </li>
        ))}
      </ol>
    </section>
  );
}
