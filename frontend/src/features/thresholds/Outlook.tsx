import { readCounts, type WhatIf } from "@/api/what-if";
import { Explained } from "@/components/Explained";
import { formatCount, formatShare, formatShortCount } from "@/words/numbers";
import styles from "./thresholds.module.css";

/** What would be kept instead of what is, in one strip that stays in sight. */
export function Outlook({ answer, isBehind }: { answer: WhatIf; isBehind: boolean }) {
  const before = readCounts(answer.baseline);
  const after = readCounts(answer.funnel);
  const all = Object.values(after.documents).reduce((sum, one) => sum + one, 0);
  return (
    <div className={styles.outlook} role="status" aria-label="What would be kept" data-behind={isBehind || undefined}>
      <Change
        label="documents kept"
        meaning="Documents that pass every stage: before, and with the thresholds as they are now."
        before={before.documents.kept}
        after={after.documents.kept}
        note={formatShare(after.documents.kept, all)}
      />
      <Change
        label="tokens kept"
        meaning="Pieces of words, as language models count text, in the documents that are kept."
        before={before.tokens.kept}
        after={after.tokens.kept}
      />
      <Change
        label="undecided"
        meaning="Documents of which a measurement that decides is missing."
        before={before.documents.undecided}
        after={after.documents.undecided}
      />
    </div>
  );
}

interface ChangeProps {
  label: string;
  meaning: string;
  before: number;
  after: number;
  note?: string;
}

function Change({ label, meaning, before, after, note }: ChangeProps) {
  const difference = after - before;
  return (
    <div className={styles.change}>
      <div className={styles.changeValue} title={`${formatCount(before)} before, ${formatCount(after)} now`}>
        {difference !== 0 && <span className={styles.was}>{formatShortCount(before)} →</span>} {formatShortCount(after)}
        {difference !== 0 && (
          <span className={difference > 0 ? styles.more : styles.less}>
            {difference > 0 ? "+" : "−"}
            {formatShortCount(Math.abs(difference))}
          </span>
        )}
        {note && <span className={styles.share}>{note}</span>}
      </div>
      <div className={styles.muted}>
        <Explained meaning={meaning}>{label}</Explained>
      </div>
    </div>
  );
}
