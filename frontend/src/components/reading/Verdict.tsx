import type { Decision } from "@/api/documents";
import { StateBadge } from "@/components/StateBadge";
import { describeOutcome } from "@/words/outcomes";
import { describeStage } from "@/words/terms";
import styles from "./reading.module.css";

interface VerdictProps {
  decision: Decision;
  /** The only reason that is known to exclude it, and whether everything else was measured. */
  soleCause: string | null;
  isSoleCertain: boolean;
}

/** The decision in one line: what it is, what excludes the text, and whether that is all. */
export function Verdict({ decision, soleCause, isSoleCertain }: VerdictProps) {
  return (
    <div className={styles.verdict}>
      <StateBadge term={describeOutcome(decision)} />
      <span>{describeCauses(decision, soleCause, isSoleCertain)}</span>
    </div>
  );
}

function describeCauses(
  { kept, decided_by, excluded_by, undecided_for }: Decision,
  sole: string | null,
  isCertain: boolean,
) {
  const name = (stage: string) => describeStage(stage).label.toLowerCase();
  if (decided_by === "override") return kept ? "by a person, whatever the stages say" : "by a person";
  if (kept === true) return "passes every stage";
  if (kept === null) return `not measured: ${undecided_for.map(name).join(", ")}`;
  if (sole !== null) {
    return isCertain ? `by this alone: ${name(sole)}` : `by this alone, as far as was measured: ${name(sole)}`;
  }
  return `by ${excluded_by.map(name).join(", ")}`;
}
