import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import {
  catalogueDiffQuery,
  conceptsQuery,
  newestVersionQuery,
  useSaveCatalogue,
  type CatalogueVersion,
  type Edit,
} from "@/api/catalogues";
import { ProblemError } from "@/api/problem";
import { Button } from "@/components/Button";
import { Form, FormButtons, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { plural } from "@/words/numbers";
import { ChangeList } from "./ChangeList";
import styles from "./concepts.module.css";
import { findOverlap, leaveOut, moveTo, setDraft } from "./draft";

interface SaveSectionProps {
  edit: Edit;
  /** What it changes is known: it can be saved as it is. */
  isReady: boolean;
  jobId: number | null;
}

/** Saves the edit with a note. Where somebody saved in between, what they did is shown first. */
export function SaveSection({ edit, isReady, jobId }: SaveSectionProps) {
  const [note, setNote] = useState("");
  const [, go] = useLocation();
  const save = useSaveCatalogue();
  const newest = useQuery(newestVersionQuery);
  const isOvertaken = newest.data !== null && newest.data !== undefined && newest.data.version > edit.based_on;
  const isConflict = save.error instanceof ProblemError && save.error.status === 409;

  function submit() {
    save.mutate(
      { edit, note: note.trim() },
      {
        onSuccess: ({ version }) => {
          setDraft(null);
          tell(`Version ${version} of the catalogue is saved.`);
          go(jobId === null ? "/concepts/catalogue" : `/concepts/${jobId}`);
        },
      },
    );
  }

  return (
    <Section title="Save it" about="It becomes the next version. Earlier ones stay, and it can be taken back.">
      {isOvertaken && newest.data && <Overtaken edit={edit} newest={newest.data} onMoved={() => save.reset()} />}
      <Form onSubmit={submit} label="Save the edit">
        <TextField
          label="Note"
          value={note}
          onChange={setNote}
          isRequired
          maxLength={2_000}
          description="Why it changes, for who reads the history."
        />
        {save.error ? <ProblemMessage error={save.error} /> : null}
        <FormButtons>
          <Button
            type="submit"
            look="primary"
            isDisabled={save.isPending || !isReady || note.trim() === "" || (isConflict && isOvertaken)}
          >
            {save.isPending ? "Saving…" : `Save as version ${edit.based_on + 1}`}
          </Button>
        </FormButtons>
      </Form>
    </Section>
  );
}

interface OvertakenProps {
  edit: Edit;
  newest: CatalogueVersion;
  onMoved: () => void;
}

/** Who saved what since the edit was begun, where both touch the same, and the way to go on from there. */
function Overtaken({ edit, newest, onMoved }: OvertakenProps) {
  const diff = useQuery(catalogueDiffQuery(edit.based_on, newest.version));
  const concepts = useQuery(conceptsQuery(newest.version));
  return (
    <section className={styles.failure} aria-label="Somebody saved in between">
      <p>
        <strong>{newest.author}</strong> saved version {newest.version} <Moment at={newest.created_at} />
        {newest.note && (
          <>
            : <q>{newest.note}</q>
          </>
        )}
        . Your edit was made from version {edit.based_on}.
      </p>
      <Loaded query={diff} what="what changed">
        {({ changes }) => {
          const both = findOverlap(edit, changes);
          const names = both.map((id) => changes.find((change) => change.id === id)?.after?.name ?? id);
          return (
            <div className={styles.changes}>
              <details>
                <summary>
                  What changed since version {edit.based_on}: {plural(changes.length, "concept")}
                </summary>
                <ChangeList label={`What changed since version ${edit.based_on}`} changes={changes} />
              </details>
              {edit.csv !== null ? (
                <p>Your file is a whole catalogue: what changed since is not in it, and would be undone.</p>
              ) : both.length > 0 ? (
                <p>
                  You both touch <strong>{names.join(", ")}</strong>: saved from version {newest.version}, yours stands
                  in the place of theirs.
                </p>
              ) : (
                <p>None of it touches what you change: both stand, once you go on from version {newest.version}.</p>
              )}
              <FormButtons>
                <Button
                  look="primary"
                  isDisabled={!concepts.data}
                  onPress={() => {
                    if (!concepts.data) return;
                    setDraft(moveTo(edit, newest.version, concepts.data));
                    onMoved();
                  }}
                >
                  Go on from version {newest.version}
                </Button>
                {both.length > 0 && (
                  <Button
                    onPress={() => {
                      const rest = both.reduce<Edit | null>((left, id) => left && leaveOut(left, id), edit);
                      setDraft(rest && concepts.data ? moveTo(rest, newest.version, concepts.data) : rest);
                      onMoved();
                    }}
                  >
                    Go on without these
                  </Button>
                )}
              </FormButtons>
            </div>
          );
        }}
      </Loaded>
    </section>
  );
}
