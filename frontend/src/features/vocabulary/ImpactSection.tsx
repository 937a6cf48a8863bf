import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { DecisionChoice } from "@/api/documents";
import { impactQuery, type Impact, type Rulings } from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { nameRow } from "@/components/DocumentGrid";
import { Figures, type Figure } from "@/components/Figures";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Indexed } from "@/components/Waiting";
import { formatCount, plural } from "@/words/numbers";
import { MOVES } from "@/words/vocabulary";
import { nameDocument } from "./PlacesSection";
import styles from "./vocabulary.module.css";

interface ImpactSectionProps {
  jobId: number;
  choice: DecisionChoice;
  versionId: number | null;
  rulings: Rulings;
}

/** What the edits would change in this job, before anything uses them. */
export function ImpactSection({ jobId, choice, versionId, rulings }: ImpactSectionProps) {
  const [seed, setSeed] = useState(0);
  const impact = useQuery({
    ...impactQuery(jobId, choice, rulings, seed),
    placeholderData: (previous) => previous,
  });
  return (
    <section className={styles.impact} aria-label="Impact">
      <h3>Impact</h3>
      {impact.error ? (
        <ProblemMessage error={impact.error} onRetry={() => impact.refetch()} />
      ) : (
        <Indexed query={impact} what="the impact">
          {(found) => (
            <div className={`${styles.stack} ${impact.isPlaceholderData ? styles.behind : ""}`}>
              <Figures figures={listFigures(found)} />
              {found.needs_senses && (
                <p className={styles.warning}>
                  Some words are told apart by sense, and this job has not measured that.{" "}
                  {plural(found.uncertain.documents, "document waits", "documents wait")} for it: some of them move;
                  what is said of the others is certain. Once the version is saved, its senses can be measured.
                </p>
              )}
              <Examples found={found} jobId={jobId} versionId={versionId} onDraw={() => setSeed(seed + 1)} />
            </div>
          )}
        </Indexed>
      )}
    </section>
  );
}

function listFigures({ moves, uncertain, undecided, kept_before, kept_after, needs_senses }: Impact): Figure[] {
  const move = (name: string): Figure => {
    const { documents = 0, tokens = 0 } = moves[name] ?? {};
    const { label = name, meaning = "" } = MOVES[name] ?? {};
    return { label, ...describeTotal(documents, tokens), meaning };
  };
  const shown: Figure[] = [
    {
      label: "Kept in all",
      value: `${formatCount(kept_before.documents)} → ${formatCount(kept_after.documents)}`,
      unit: "documents",
      exact: `${formatCount(kept_before.tokens)} → ${formatCount(kept_after.tokens)} tokens`,
      meaning: `Documents of the job that are kept, before and after: ${formatCount(kept_before.tokens)} tokens before, ${formatCount(kept_after.tokens)} after.`,
    },
    move("now_kept"),
    move("now_excluded"),
  ];
  for (const name of ["now_undecided", "no_longer_undecided"]) {
    if ((moves[name]?.documents ?? 0) > 0) shown.push(move(name));
  }
  if (needs_senses) {
    shown.push({
      label: "Of these uncertain",
      ...describeTotal(uncertain.documents, uncertain.tokens),
      meaning: "Wait until their words are told apart. All others move as it says here, whatever comes of that.",
    });
  }
  if (undecided.documents > 0) {
    shown.push({
      label: "Undecided in all",
      ...describeTotal(undecided.documents, undecided.tokens),
      meaning: "All documents of the job that wait for a measurement afterwards.",
    });
  }
  return shown;
}

function describeTotal(documents: number, tokens: number): Pick<Figure, "value" | "unit"> {
  return {
    value: formatCount(documents),
    unit: `${documents === 1 ? "document" : "documents"}, ${plural(tokens, "token")}`,
  };
}

interface ExamplesProps {
  found: Impact;
  jobId: number;
  versionId: number | null;
  onDraw: () => void;
}

function Examples({ found, jobId, versionId, onDraw }: ExamplesProps) {
  const moving = Object.values(found.moves).reduce((sum, { documents }) => sum + documents, 0);
  if (found.examples.length === 0) return <p className={styles.note}>No document of this job moves.</p>;
  return (
    <>
      <div className={styles.examplesHead}>
        <h4>
          {moving > found.examples.length
            ? `${found.examples.length} of ${formatCount(moving)} that move, drawn at random`
            : `The ${plural(found.examples.length, "document")} that ${found.examples.length === 1 ? "moves" : "move"}`}
        </h4>
        {moving > found.examples.length && (
          <Button isSmall look="quiet" onPress={onDraw}>
            Draw others
          </Button>
        )}
      </div>
      <ul className={styles.examples} aria-label="Documents that move">
        {found.examples.map((example) => (
          <li key={example.position}>
            <Link href={nameDocument(jobId, versionId, example.position)}>
              <bdi>{nameRow(example)}</bdi>
            </Link>
            <span className={example.move === "now_excluded" ? styles.counts : styles.note}>
              {MOVES[example.move]?.label.toLowerCase()}: {example.words.join(", ")}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
