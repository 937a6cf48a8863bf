import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useCursorPages, type Sight } from "@/api/cursor-pages";
import { documentQuery, type DecisionChoice } from "@/api/documents";
import { flipPages, type Comparison, type Move, type WhatIf } from "@/api/what-if";
import { DocumentGrid, nameRow } from "@/components/DocumentGrid";
import { FIRST_SIGHT } from "@/components/VirtualGrid";
import { ReadingPane } from "@/components/reading/ReadingPane";
import { Loading } from "@/components/states";
import { Indexed } from "@/components/Waiting";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Section } from "@/components/Page";
import { formatShortCount } from "@/words/numbers";
import styles from "./thresholds.module.css";

const MOVES: Record<Move, string> = {
  now_kept: "Now kept",
  now_excluded: "Now excluded",
  now_undecided: "Now undecided",
  no_longer_undecided: "No longer undecided",
};

interface FlipsProps {
  comparison: Comparison;
  flips: WhatIf["flips"];
}

/** The documents that change sides, to be read as the moved thresholds see them. */
export function Flips({ comparison, flips }: FlipsProps) {
  const moves = (Object.keys(MOVES) as Move[]).filter((move) => (flips[move]?.documents ?? 0) > 0);
  const [chosen, setChosen] = useState<Move>();
  const move = chosen && moves.includes(chosen) ? chosen : moves[0];
  return (
    <Section
      title="Documents that change sides"
      about="What the moved thresholds decide otherwise. Read a few before you save: a number does not say what is lost."
    >
      {move === undefined ? (
        <p className={styles.muted}>None: every document is decided as before.</p>
      ) : (
        <>
          <div className={styles.moves} role="group" aria-label="Which">
            {moves.map((one) => (
              <button key={one} type="button" aria-pressed={one === move} onClick={() => setChosen(one)}>
                {MOVES[one]} <span>{formatShortCount(flips[one]?.documents ?? 0)}</span>
              </button>
            ))}
          </div>
          <FlipList key={JSON.stringify([comparison, move])} comparison={comparison} move={move} />
        </>
      )}
    </Section>
  );
}

function FlipList({ comparison, move }: { comparison: Comparison; move: Move }) {
  const [sight, setSight] = useState<Sight>(FIRST_SIGHT);
  const [chosen, setChosen] = useState<number>();
  const pages = useCursorPages(flipPages(comparison, move), sight);
  if (pages.total === undefined) {
    return pages.error ? (
      <ProblemMessage error={pages.error} onRetry={pages.refetch} />
    ) : (
      <Loading what="the documents" />
    );
  }
  const first = pages.rowAt(0)?.position;
  if (chosen === undefined && first !== undefined) setChosen(first);
  return (
    <div className={styles.flips}>
      <DocumentGrid
        label={MOVES[move]}
        pages={pages}
        onSight={setSight}
        selected={chosen ?? null}
        onSelect={setChosen}
      />
      <div className={styles.reader}>
        {chosen === undefined ? (
          <Loading what="the document" />
        ) : (
          <FlippedDocument jobId={comparison.job} position={chosen} choice={comparison.other} />
        )}
      </div>
    </div>
  );
}

function FlippedDocument({ jobId, position, choice }: { jobId: number; position: number; choice: DecisionChoice }) {
  const document = useQuery(documentQuery(jobId, position, choice));
  return (
    <Indexed query={document} what="the document">
      {(found) =>
        found.explanation ? (
          <ReadingPane
            key={found.position}
            decision={found.decision}
            explanation={found.explanation}
            distances={found.distances}
            soleCause={found.sole_cause}
            isSoleCertain={found.is_sole_certain}
            sourceText={found.text ?? undefined}
            head={
              <h3 className={styles.documentName}>
                <bdi>{nameRow(found)}</bdi>
              </h3>
            }
          />
        ) : (
          <p>It cannot be read: {found.error}</p>
        )
      }
    </Indexed>
  );
}
