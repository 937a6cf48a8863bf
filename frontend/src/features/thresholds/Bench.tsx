import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { DecisionChoice, ProfileContent } from "@/api/documents";
import type { JobDetail } from "@/api/jobs";
import type { VersionSummary } from "@/api/profiles";
import { compareContents } from "@/api/profile-contents";
import { useIsAllowed } from "@/api/roles";
import { readCounts, whatIfQuery, type Comparison, type WhatIf } from "@/api/what-if";
import { Button } from "@/components/Button";
import { CheckField } from "@/components/fields";
import { FunnelPicture } from "@/components/FunnelPicture";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { SaveProfileDialog } from "@/components/SaveProfileDialog";
import { Indexed } from "@/components/Waiting";
import { describeThreshold, formatAsked } from "@/words/thresholds";
import { CutCard } from "./CutCard";
import { applyMoves, listCuts, readCut, type Moves } from "./cuts";
import { Flips } from "./Flips";
import { Outlook } from "./Outlook";
import styles from "./thresholds.module.css";
import { Undecided } from "./Undecided";
import { useLatestAnswer } from "./useLatestAnswer";

interface BenchProps {
  job: JobDetail;
  before: ProfileContent;
  from: ProfileContent;
  /** The name that a new version continues; empty where it may not. */
  fromName: string;
  ids: { before: number | null; from: number | null };
  moves: Moves;
  versions: readonly VersionSummary[];
  onMoves: (moves: Moves) => void;
  onSaved: (id: number) => void;
}

const choose = (id: number | null): DecisionChoice => (id === null ? {} : { profile_id: id });

export function Bench(props: BenchProps) {
  const baseline = useMemo(() => choose(props.ids.before), [props.ids.before]);
  // Asked once by itself: it waits for the index, and everything else is quick from then on.
  const first = useQuery(whatIfQuery({ job: props.job.id, baseline, other: baseline }));
  return (
    <Indexed query={first} what="what is kept">
      {(answer) => <OpenBench {...props} baseline={baseline} first={answer} />}
    </Indexed>
  );
}

function OpenBench(props: BenchProps & { baseline: DecisionChoice; first: WhatIf }) {
  const { job, before, from, fromName, ids, moves, versions, onMoves, onSaved, baseline, first } = props;
  const client = useQueryClient();
  const [dragged, setDragged] = useState<Moves>();
  const [isSaving, setIsSaving] = useState(false);
  const [isStretched, setIsStretched] = useState(false);
  const mayWrite = useIsAllowed("profiles");
  const shown = dragged ?? moves;

  // The moves as text, so that what is asked stays the same from render to render.
  const key = JSON.stringify([...shown]);
  const content = useMemo(() => applyMoves(from, new Map(JSON.parse(key) as [string, number][])), [from, key]);
  const isMoved = compareContents(from, content).length > 0;
  const comparison = useMemo(
    (): Comparison => ({ job: job.id, baseline, other: isMoved ? { profile: content } : choose(ids.from) }),
    [job.id, baseline, isMoved, content, ids.from],
  );
  const ask = useCallback((asked: Comparison) => client.fetchQuery(whatIfQuery(asked)), [client]);
  const latest = useLatestAnswer(comparison, ask);
  const answer = latest.answer ?? first;
  const differences = compareContents(before, content);
  // While a line is dragged the bars keep their colours: what would be kept is asked at every step, and must not wait for them.
  const [atRest, setAtRest] = useState<Comparison>();
  if (dragged === undefined && latest.question && latest.question !== atRest) setAtRest(latest.question);
  const drawn = atRest ?? { ...comparison, other: baseline };

  return (
    <>
      <div className={styles.strip}>
        <Outlook answer={answer} isBehind={latest.question !== comparison} />
        <div className={styles.stripActions}>
          {isMoved && (
            <Button isSmall look="quiet" onPress={() => onMoves(new Map())}>
              Put all back
            </Button>
          )}
          {mayWrite && (
            <Button look="primary" isDisabled={!isMoved} onPress={() => setIsSaving(true)}>
              Save as a version…
            </Button>
          )}
        </div>
      </div>
      {latest.error ? <ProblemMessage error={latest.error} /> : null}
      <Section
        title="Where the thresholds cut"
        about="Each bar is documents with about that value, coloured by what is decided of them. Drag a line, or focus it and use the arrow keys."
        actions={<CheckField label="Stretch small bars" isSelected={isStretched} onChange={setIsStretched} />}
      >
        <div className={styles.legend} aria-hidden>
          <span data-tone="kept">kept</span>
          <span data-tone="excluded">excluded</span>
          <span data-tone="undecided">undecided</span>
          <span data-tone="before">before</span>
        </div>
        <div className={styles.cards}>
          {listCuts(content).map((cut) => (
            <CutCard
              key={cut.path}
              jobId={job.id}
              choice={drawn.other}
              cut={cut}
              before={readCut(before, cut.path)}
              value={readCut(content, cut.path) ?? 0}
              isStretched={isStretched}
              onMove={(value) => setDragged(new Map([...moves, [cut.path, value]]))}
              onRest={(value) => {
                setDragged(undefined);
                const next = new Map([...moves, [cut.path, value]]);
                if (readCut(from, cut.path) === value) next.delete(cut.path);
                onMoves(next);
              }}
            />
          ))}
        </div>
      </Section>
      <div className={styles.two}>
        <Section title="What each stage would take away" about="As the thresholds are now.">
          <FunnelPicture funnel={readCounts(answer.funnel)} />
        </Section>
        <Section title="What is different" about="What the two profiles ask, where it is not the same.">
          {differences.length === 0 ? (
            <p className={styles.muted}>Nothing: they ask the same.</p>
          ) : (
            <table className={styles.beside}>
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">Before</th>
                  <th scope="col">Now</th>
                </tr>
              </thead>
              <tbody>
                {differences.map(({ path, before: asked, after }) => (
                  <tr key={path}>
                    <th scope="row">{describeThreshold(path).label}</th>
                    <td>{formatAsked(path, asked)}</td>
                    <td>{formatAsked(path, after)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Section>
      </div>
      <Undecided
        job={job}
        counts={readCounts(answer.funnel)}
        profileId={isMoved ? null : (ids.from ?? job.profile.id)}
      />
      {/* Listed anew once the line rests. */}
      {dragged === undefined && latest.question === comparison && latest.answer && (
        <Flips comparison={comparison} flips={latest.answer.flips} />
      )}
      <SaveProfileDialog
        isOpen={isSaving}
        onClose={() => setIsSaving(false)}
        content={content}
        differences={compareContents(from, content)}
        suggestedName={fromName}
        versions={versions}
        onSaved={(id) => {
          setIsSaving(false);
          onSaved(id);
        }}
      />
    </>
  );
}
