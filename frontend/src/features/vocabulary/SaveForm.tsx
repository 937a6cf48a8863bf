import { useQuery } from "@tanstack/react-query";
import { ProblemError } from "@/api/problem";
import {
  useSaveVocabulary,
  vocabularyVersionsQuery,
  wordChangesQuery,
  type Rulings,
  type VocabularySummary,
} from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { Form, FormButtons, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { describeRuling } from "@/words/vocabulary";
import { NAME_IS_WRONG } from "@/words/profile-names";
import type { Draft } from "./draft";
import { findEdit } from "./edits";
import styles from "./vocabulary.module.css";

const NAME = /^[a-z0-9][a-z0-9_-]{0,99}$/;
const FIRST_NAME = "ours";

interface SaveFormProps {
  /** The version that the edits are laid on. */
  base: VocabularySummary | undefined;
  draft: Draft;
  rulings: Rulings;
  onDraft: (draft: Draft) => void;
  onSaved: (saved: VocabularySummary) => void;
  /** The edits go on top of another version. */
  onMove: (to: VocabularySummary) => void;
}

export function SaveForm({ base, draft, rulings, onDraft, onSaved, onMove }: SaveFormProps) {
  const save = useSaveVocabulary();
  const name = draft.name ?? base?.name ?? FIRST_NAME;
  const basedOn = base && base.name === name ? base.id : null;
  const isOvertaken = save.error instanceof ProblemError && save.error.status === 409;

  function submit() {
    save.mutate(
      { name, based_on: basedOn, content: rulings, note: draft.note.trim() },
      {
        onSuccess: (saved) => {
          tell(`${saved.name} v${saved.version} is saved.`);
          onSaved(saved);
        },
      },
    );
  }

  return (
    <section className={styles.save} aria-label="Save">
      <h3>Save</h3>
      <Form onSubmit={submit} label="Save as a version">
        <TextField
          label="Name"
          value={name}
          onChange={(next) => {
            save.reset();
            onDraft({ ...draft, name: next });
          }}
          isRequired
          error={NAME.test(name) ? undefined : NAME_IS_WRONG}
          description={
            basedOn === null ? "A new vocabulary of that name." : `This becomes the version after v${base?.version}.`
          }
        />
        <TextField
          label="What changes and why"
          value={draft.note}
          onChange={(note) => onDraft({ ...draft, note })}
          maxLength={2_000}
          lines="text"
          rows={2}
        />
        {save.error && !isOvertaken ? <ProblemMessage error={save.error} /> : null}
        {isOvertaken && (
          <Overtaken
            name={name}
            base={base}
            draft={draft}
            error={save.error}
            onMove={(to) => {
              save.reset();
              onMove(to);
            }}
          />
        )}
        <FormButtons>
          <Button type="submit" look="primary" isDisabled={!NAME.test(name) || save.isPending || isOvertaken}>
            {save.isPending ? "Saving…" : "Save as a version"}
          </Button>
        </FormButtons>
      </Form>
    </section>
  );
}

interface OvertakenProps {
  name: string;
  base: VocabularySummary | undefined;
  draft: Draft;
  error: unknown;
  onMove: (to: VocabularySummary) => void;
}

/** Somebody saved meanwhile: who, when, why and what. Nothing is lost on either side. */
function Overtaken({ name, base, draft, error, onMove }: OvertakenProps) {
  const versions = useQuery({ ...vocabularyVersionsQuery(name), staleTime: 0 });
  return (
    <div className={styles.warning} role="alert">
      <Loaded query={versions} what="what was saved">
        {([newest]) =>
          newest ? (
            <>
              <p>
                <strong>{newest.author}</strong> saved version {newest.version} of {name}{" "}
                <Moment at={newest.created_at} />
                {newest.note && (
                  <>
                    : <q>{newest.note}</q>
                  </>
                )}
              </p>
              {base && base.name === name && <Theirs before={base.id} after={newest.id} draft={draft} />}
              <p>Nothing of yours is lost, and nothing of theirs is overwritten.</p>
              <Button isSmall onPress={() => onMove(newest)}>
                Go on with my edits on top of version {newest.version}
              </Button>
            </>
          ) : (
            <ProblemMessage error={error} />
          )
        }
      </Loaded>
    </div>
  );
}

function Theirs({ before, after, draft }: { before: number; after: number; draft: Draft }) {
  const changes = useQuery(wordChangesQuery(before, after));
  return (
    <Loaded query={changes} what="their changes">
      {(found) => (
        <ul aria-label="Their changes">
          {found.map(({ word, before: was, after: is }) => (
            <li key={word}>
              <bdi>{word}</bdi>: {describeRuling(was)} → <strong>{describeRuling(is)}</strong>
              {findEdit(draft.edits, word) && ", where your list says otherwise: yours would hold"}
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}
