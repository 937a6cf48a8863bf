import type { SenseContext } from "@/api/vocabularies";
import { describeRuling } from "@/words/vocabulary";
import { hasSenses, type Edit } from "./edits";
import styles from "./vocabulary.module.css";

/** What is ruled of a word and why, in sentences. */
export function RulingSummary({ edit }: { edit: Edit }) {
  return (
    <div className={styles.summary}>
      {hasSenses(edit) && (
        <ul>
          {edit.countsIf.map((context, place) => (
            <li key={`counts${place}`}>
              Counts {describeWindow(context)} <q>{context.words.join(", ")}</q>
            </li>
          ))}
          {edit.innocentIf.map((context, place) => (
            <li key={`innocent${place}`}>
              Does not count {describeWindow(context)} <q>{context.words.join(", ")}</q>
            </li>
          ))}
          <li>Anywhere else: {describeRuling(edit.ruling)}</li>
        </ul>
      )}
      {edit.note && (
        <p>
          <bdi>{edit.note}</bdi>
        </p>
      )}
    </div>
  );
}

function describeWindow({ left, right }: SenseContext): string {
  return left === right ? `within ${left} words of` : `within ${left} words after and ${right} before`;
}
