import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useLocation, useSearch, useSearchParams } from "wouter";
import type { DecisionChoice } from "@/api/documents";
import { jobQuery, type JobDetail } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { EMPTY_RULINGS, readRulings, vocabularyQuery, type Rulings, type VocabularyVersion } from "@/api/vocabularies";
import { ButtonLink } from "@/components/Button";
import { JobPicker } from "@/components/JobPicker";
import { OfJob } from "@/components/OfJob";
import { usePageShortcuts } from "@/components/page-shortcuts";
import { EmptyState, Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { VocabularyPicker } from "@/components/VocabularyPicker";
import type { GridHandle } from "@/components/VirtualGrid";
import { Workspace } from "@/components/Workspace";
import { askWords, readView, writeView, type View } from "./address";
import { useDraft } from "./draft";
import { addEdit, dropEdit, findEdit, readEdit } from "./edits";
import { EditsBar } from "./EditsBar";
import { EditsPane } from "./EditsPane";
import { FilterBar } from "./FilterBar";
import { Losses } from "./Losses";
import { RulingDialog } from "./RulingDialog";
import styles from "./vocabulary.module.css";
import { WordPane, type RulingVerb } from "./WordPane";
import { WordTable } from "./WordTable";

const PURPOSE = "See which words documents are excluded for, read them in their contexts, and rule on them.";

export default function VocabularyPage() {
  return (
    <OfJob title="Vocabulary" purpose={PURPOSE} place="/vocabulary" search={useSearch()}>
      {(jobId) => <JobVocabulary jobId={jobId} />}
    </OfJob>
  );
}

function JobVocabulary({ jobId }: { jobId: number }) {
  const [address, setAddress] = useSearchParams();
  const [, go] = useLocation();
  const view = readView(address);
  const job = useQuery(jobQuery(jobId));
  const show = (change: Partial<View>, isReplacing: boolean) =>
    setAddress(() => writeView({ ...view, ...change }), { replace: isReplacing });
  return (
    <Workspace
      title="Vocabulary"
      purpose={PURPOSE}
      actions={
        <>
          <JobPicker jobId={jobId} onChange={(id) => go(`/vocabulary/${id}`)} />
          <VocabularyPicker
            label="Ruled by"
            own="Words: the job's own"
            value={view.versionId}
            onChange={(versionId) => show({ versionId }, false)}
          />
          <ButtonLink href={`/vocabulary/sampling/${jobId}`}>Sampling</ButtonLink>
          <ButtonLink href="/vocabulary/versions">Versions</ButtonLink>
        </>
      }
    >
      <Loaded query={job} what="the job">
        {(found) => <Base job={found} view={view} onView={show} />}
      </Loaded>
    </Workspace>
  );
}

interface BaseProps {
  job: JobDetail;
  view: View;
  onView: (change: Partial<View>, isReplacing: boolean) => void;
}

/** The version that rules here, with its words: the chosen one, else the job's own. */
function Base({ job, view, onView }: BaseProps) {
  const id = view.versionId ?? job.options.vocabulary_id ?? null;
  const version = useQuery({ ...vocabularyQuery(id ?? 0), enabled: id !== null });
  if (id === null) return <Bench job={job} view={view} onView={onView} version={undefined} base={EMPTY_RULINGS} />;
  return (
    <Loaded query={version} what="the version">
      {(found) => <Bench job={job} view={view} onView={onView} version={found} base={readRulings(found)} />}
    </Loaded>
  );
}

interface BenchProps extends BaseProps {
  /** Undefined: the vocabulary without rulings. */
  version: VocabularyVersion | undefined;
  base: Rulings;
}

function Bench({ job, view, onView, version, base }: BenchProps) {
  const { versionId, word, isEditing, places } = view;
  const choice: DecisionChoice = versionId === null ? {} : { vocabulary_id: versionId };
  const asked = askWords(view);
  const [draft, setDraft] = useDraft(version?.id ?? null);
  const [ruling, setRuling] = useState<{ word: string; verb: RulingVerb }>();
  const table = useRef<GridHandle>(null);
  const pane = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const mayRule = useIsAllowed("rule");
  const editCount = Object.keys(draft.edits).length;
  const readRuled = (one: string) => findEdit(draft.edits, one) ?? readEdit(base, one);

  const select = (next: string) => (next !== word || isEditing) && onView({ word: next, isEditing: false }, true);
  const takeBack = (one: string) => setDraft({ ...draft, edits: dropEdit(draft.edits, one) });

  function rule(verb: RulingVerb) {
    if (!mayRule) tell("Ruling on words needs the role of a curator.");
    else if (word === null) tell("Choose a word first.");
    else setRuling({ word, verb });
  }

  usePageShortcuts([
    { keys: ["j", "ArrowDown"], label: "Next word", run: () => table.current?.move(1) },
    { keys: ["k", "ArrowUp"], label: "Word before", run: () => table.current?.move(-1) },
    { keys: ["o", "Enter"], label: "Read where it stands", run: () => pane.current?.focus() },
    { keys: ["Escape"], label: "Back to the table", run: () => table.current?.focus() },
    { keys: ["a"], label: "Allow the word", run: () => rule("allow") },
    { keys: ["b"], label: "Block the word", run: () => rule("block") },
    { keys: ["s"], label: "Rule by sense", run: () => rule("sense") },
    {
      keys: ["u"],
      label: "Take back the edit",
      run: () => {
        if (word !== null && findEdit(draft.edits, word)) takeBack(word);
        else tell("There is no edit to take back.");
      },
    },
    { keys: ["e"], label: "Edits and their impact", run: () => onView({ isEditing: !isEditing }, false) },
    { keys: ["/"], label: "Find a word", run: () => field.current?.focus() },
  ]);

  return (
    <>
      <FilterBar view={view} onView={onView} field={field} onDone={() => table.current?.focus()} />
      <Losses jobId={job.id} choice={choice} version={version} versionId={versionId} />
      <div className={styles.work}>
        <WordTable
          key={JSON.stringify([asked, versionId])}
          jobId={job.id}
          choice={choice}
          asked={asked}
          edits={draft.edits}
          selected={isEditing ? null : word}
          onSelect={select}
          onOpen={() => pane.current?.focus()}
          onOrder={(order, isDescending) => onView({ order, isDescending }, false)}
          handle={table}
        />
        {/* Read by keys as well: it scrolls by itself. */}
        {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div ref={pane} className={styles.reader} role="region" aria-label={isEditing ? "Edits" : "Word"} tabIndex={0}>
          {isEditing ? (
            <EditsPane
              jobId={job.id}
              choice={choice}
              versionId={versionId}
              baseVersion={version}
              base={base}
              draft={draft}
              onDraft={setDraft}
              onEdit={(one) => setRuling({ word: one, verb: chooseVerb(readRuled(one)) })}
              onVersion={(id) => onView({ versionId: id }, false)}
            />
          ) : word === null ? (
            <EmptyState title="Choose a word">
              <p>
                <kbd>j</kbd> and <kbd>k</kbd> go from one to the next, <kbd>?</kbd> lists every key.
              </p>
            </EmptyState>
          ) : (
            <WordPane
              key={word}
              jobId={job.id}
              choice={choice}
              versionId={versionId}
              word={word}
              base={base}
              edits={draft.edits}
              places={places}
              onPlaces={(next) => onView({ places: next }, true)}
              onWord={(next) => onView({ word: next }, false)}
              onRule={rule}
              onTakeBack={() => takeBack(word)}
            />
          )}
        </div>
      </div>
      <EditsBar count={editCount} isShown={isEditing} onShow={(isShown) => onView({ isEditing: isShown }, false)} />
      <RulingDialog
        edit={readRuled(ruling?.word ?? "")}
        verb={ruling?.verb}
        onClose={() => setRuling(undefined)}
        onRule={(edit) => {
          setDraft({ ...draft, edits: addEdit(draft.edits, base, edit) });
          setRuling(undefined);
        }}
      />
    </>
  );
}

function chooseVerb({ ruling, innocentIf, countsIf }: ReturnType<typeof readEdit>): RulingVerb {
  if (innocentIf.length + countsIf.length > 0) return "sense";
  return ruling ?? "none";
}
