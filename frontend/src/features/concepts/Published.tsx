import type { ConceptReport } from "@/api/concepts";
import { formatLeakShare } from "@/words/concepts";
import { formatCount } from "@/words/numbers";
import styles from "./concepts.module.css";

/** The published corpus' own figure, to stand beside ours. */
export function Published({ published: { ngrams, share } }: { published: ConceptReport["published"] }) {
  return (
    <p className={styles.muted}>
      To compare: the published corpus has {formatCount(ngrams)} phrases of grade 6 and above in{" "}
      {formatLeakShare(share)} of its passages. That is another list, looked for in other passages.
    </p>
  );
}
