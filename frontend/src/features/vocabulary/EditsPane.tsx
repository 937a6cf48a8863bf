import { FileUp, Pencil, Undo2 } from "lucide-react";
import { useRef, useState } from "react";
import type { DecisionChoice } from "@/api/documents";
import { useIsAllowed, useSignedInName } from "@/api/roles";
import { useReadCsv, type Rulings, type VocabularySummary } from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/Dialog";
import { ProblemMessage } from "@/components/ProblemMessage";
import { EmptyState } from "@/components/states";
import { tell } from "@/components/toasts";
import { plural } from "@/words/numbers";
import { describeRuling } from "@/words/vocabulary";
import { moveDraft, NO_DRAFT, type Draft } from "./draft";
import { applyEdits, dropEdit, findEdits, nameRuling, readEdit, type Edit } from "./edits";
import { ImpactSection } from "./ImpactSection";
import { RulingSummary } from "./RulingSummary";
import { SaveForm } from "./SaveForm";
import styles from "./vocabulary.module.css";

interface EditsPaneProps {
  jobId: number;
  choice: DecisionChoice;
  versionId: number | null;
  /** Undefined: the vocabulary without rulings. */
  baseVersion: VocabularySummary | undefined;
  base: Rulings;
  draft: Draft;
  onDraft: (draft: Draft) => void;
  onEdit: (word: string) => void;
  onVersion: (id: number) => void;
}

/** The list of edits, what they would change, and where they are saved. */
export function EditsPane(props: EditsPaneProps) {
  const { jobId, choice, versionId, baseVersion, base, draft, onDraft, onEdit, onVersion } = props;
  const [isGivingUp, setIsGivingUp] = useState(false);
  const person = useSignedInName();
  const mayRule = useIsAllowed("rule");
  const edits = Object.values(draft.edits).sort((one, other) => one.word.localeCompare(other.word));
  const rulings = applyEdits(base, draft.edits);
  const baseId = baseVersion?.id ?? null;

  if (!mayRule) {
    return (
      <EmptyState title="Curators rule on words">
        Ruling on words needs the role of a curator. You may read what every version says and what it would change.
      </EmptyState>
    );
  }
  return (
    <div className={styles.pane}>
      <header className={styles.paneHead}>
        <h2>Edits</h2>
        <div className={styles.buttons}>
          <CsvButton
            onRead={(wanted) => {
              const found = findEdits(base, wanted);
              onDraft({ ...draft, edits: found });
              tell(
                Object.keys(found).length === 0
                  ? "The file rules as this version does."
                  : `${plural(Object.keys(found).length, "edit")} from the file. Nothing is saved yet.`,
              );
            }}
          />
          {edits.length > 0 && (
            <Button isSmall look="quiet" onPress={() => setIsGivingUp(true)}>
              Give them up…
            </Button>
          )}
        </div>
      </header>
      <p className={styles.note}>
        On top of {baseVersion ? `${baseVersion.name} v${baseVersion.version}` : "the vocabulary without rulings"}. The
        list stays in this browser until it is saved or given up.
      </p>
      {edits.length === 0 ? (
        <EmptyState title="No edits yet">
          <p>
            Choose a word, then <kbd>a</kbd> allows it, <kbd>b</kbd> blocks it, <kbd>s</kbd> rules by sense. Or read a
            CSV file that was downloaded and changed.
          </p>
        </EmptyState>
      ) : (
        <>
          <ul className={styles.edits} aria-label="Edits">
            {edits.map((edit) => (
              <EditLine
                key={edit.word}
                edit={edit}
                before={nameRuling(readEdit(base, edit.word))}
                onEdit={() => onEdit(edit.word)}
                onTakeBack={() => onDraft({ ...draft, edits: dropEdit(draft.edits, edit.word) })}
              />
            ))}
          </ul>
          <ImpactSection jobId={jobId} choice={choice} versionId={versionId} rulings={rulings} />
          <SaveForm
            base={baseVersion}
            draft={draft}
            rulings={rulings}
            onDraft={onDraft}
            onSaved={(saved) => {
              onDraft(NO_DRAFT);
              onVersion(saved.id);
            }}
            onMove={(to) => {
              moveDraft(person, baseId, to.id, draft);
              onVersion(to.id);
            }}
          />
        </>
      )}
      <ConfirmDialog
        title={`Give up ${plural(edits.length, "edit")}?`}
        isOpen={isGivingUp}
        onClose={() => setIsGivingUp(false)}
        onConfirm={() => {
          onDraft(NO_DRAFT);
          setIsGivingUp(false);
        }}
        confirm="Give them up"
        isDangerous
      >
        <p>They were never saved: nobody can bring them back.</p>
      </ConfirmDialog>
    </div>
  );
}

interface EditLineProps {
  edit: Edit;
  before: string | null;
  onEdit: () => void;
  onTakeBack: () => void;
}

function EditLine({ edit, before, onEdit, onTakeBack }: EditLineProps) {
  return (
    <li>
      <div className={styles.editLine}>
        <span>
          <strong>
            <bdi>{edit.word}</bdi>
          </strong>
          : {describeRuling(before)} → <strong>{describeRuling(nameRuling(edit))}</strong>
        </span>
        <span className={styles.buttons}>
          <Button isSmall look="quiet" onPress={onEdit} aria-label={`Change the edit of ${edit.word}`}>
            <Pencil size={14} aria-hidden />
          </Button>
          <Button isSmall look="quiet" onPress={onTakeBack} aria-label={`Take back the edit of ${edit.word}`}>
            <Undo2 size={14} aria-hidden />
          </Button>
        </span>
      </div>
      <RulingSummary edit={edit} />
    </li>
  );
}

/** Reads a CSV file as edits; what is wrong with it is named with its line. */
function CsvButton({ onRead }: { onRead: (rulings: Rulings) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const read = useReadCsv();
  return (
    <>
      <input
        ref={field}
        type="file"
        accept=".csv,text/csv"
        aria-label="CSV file"
        className={styles.file}
        tabIndex={-1}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = "";
          if (!file) return;
          void file.text().then((csv) =>
            read.mutate(csv, {
              onSuccess: (found) => onRead({ ...found, notes: found.notes ?? {} }),
            }),
          );
        }}
      />
      <Button isSmall onPress={() => field.current?.click()} isDisabled={read.isPending}>
        <FileUp size={15} aria-hidden /> Read a CSV file…
      </Button>
      {read.error ? <ProblemMessage error={read.error} /> : null}
    </>
  );
}
