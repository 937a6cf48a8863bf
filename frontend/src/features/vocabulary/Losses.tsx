import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { DecisionChoice } from "@/api/documents";
import { useIsAllowed } from "@/api/roles";
import { lossesQuery, useMeasureSenses, type VocabularyVersion } from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { Explained } from "@/components/Explained";
import { ProblemMessage } from "@/components/ProblemMessage";
import { formatCount, plural } from "@/words/numbers";
import { LOSSES } from "@/words/vocabulary";
import styles from "./vocabulary.module.css";

interface LossesProps {
  jobId: number;
  choice: DecisionChoice;
  /** Undefined: the vocabulary without rulings. */
  version: VocabularyVersion | undefined;
  /** The chosen one; null: the job's own. */
  versionId: number | null;
}

/** What words exclude in all, by what would bring it back; the parts add up. */
export function Losses({ jobId, choice, version, versionId }: LossesProps) {
  const asked = useQuery(lossesQuery(jobId, choice));
  if (!asked.data) return null; // the table says that it waits, or why it cannot be had
  const { losses, kept, min_score, needs_senses } = asked.data;
  return (
    <>
      <div className={styles.losses} role="group" aria-label="What words exclude">
        <span>
          <Explained
            meaning={`Documents that hold words of ${min_score} points and more, or blocked ones, and more of them than the profile forgives: ${plural(losses.excluded.tokens, "token")}.`}
          >
            <strong>{plural(losses.excluded.documents, "document")}</strong> excluded for their words
          </Explained>
          :
        </span>
        {LOSSES.map(({ key, label, meaning }) => {
          const { documents, tokens } = losses[key];
          if (documents === 0 && key === "maybe_one_word") return null;
          return (
            <span key={key}>
              <Explained meaning={`${meaning} ${plural(tokens, "token")}.`}>
                <strong>{formatCount(documents)}</strong> {label}
              </Explained>
            </span>
          );
        })}
        <span className={styles.keptInAll}>
          <Explained meaning={`Documents that this job keeps under these words: ${plural(kept.tokens, "token")}.`}>
            <strong>{formatCount(kept.documents)}</strong> kept
          </Explained>
        </span>
        {versionId !== null && (
          <Link href={`/documents/${jobId}?words=${versionId}`}>Documents under this version</Link>
        )}
      </div>
      {needs_senses && version && <MeasureSenses jobId={jobId} version={version} />}
    </>
  );
}

function MeasureSenses({ jobId, version }: { jobId: number; version: VocabularyVersion }) {
  const measure = useMeasureSenses(jobId);
  const mayStart = useIsAllowed("jobs");
  return (
    <div className={styles.warning} role="status">
      <span>
        {version.name} v{version.version} tells words apart by sense, and this job has not measured that: documents that
        turn on it are undecided.
        {!mayStart && " Measuring it needs the role of an operator."}
      </span>
      {mayStart && measure.data && <Link href={`/jobs/${measure.data.id}`}>Job {measure.data.id} measures it</Link>}
      {mayStart && !measure.data && (
        <Button isSmall onPress={() => measure.mutate(version.id)} isDisabled={measure.isPending}>
          Measure the senses
        </Button>
      )}
      {measure.error ? <ProblemMessage error={measure.error} /> : null}
    </div>
  );
}
