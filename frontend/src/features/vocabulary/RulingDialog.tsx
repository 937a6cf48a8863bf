import { Plus, X } from "lucide-react";
import { useState } from "react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import type { SenseContext } from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { hasSenses, readWords, type Edit } from "./edits";
import styles from "./vocabulary.module.css";
import type { RulingVerb } from "./WordPane";

interface RulingDialogProps {
  /** What is ruled of the word now. */
  edit: Edit;
  /** What was asked for; nothing while nobody asks. */
  verb: RulingVerb | undefined;
  onRule: (edit: Edit) => void;
  onClose: () => void;
}

/** A ruling on a word, for the list of edits. Nothing is saved by it. */
export function RulingDialog({ verb, ...props }: RulingDialogProps) {
  return (
    <Dialog title={`Rule on “${props.edit.word}”`} isOpen={verb !== undefined} onClose={props.onClose}>
      {verb && <RulingForm verb={verb} {...props} />}
    </Dialog>
  );
}

const VERBS: Record<RulingVerb, { label: string; meaning: string }> = {
  allow: { label: "Allow", meaning: "It never counts against a text." },
  block: { label: "Block", meaning: "It counts against every text that holds it." },
  sense: { label: "By sense", meaning: "The words around each place say whether it counts there." },
  none: { label: "No ruling", meaning: "Its score decides." },
};

type Kind = "innocent" | "counts";

/** A context as it is written; what it holds is read when the ruling is made. */
interface Written {
  kind: Kind;
  words: string;
  left: string;
  right: string;
}

const NEW_CONTEXT: Written = { kind: "innocent", words: "", left: "8", right: "8" };

function RulingForm({ edit, verb, onRule, onClose }: RulingDialogProps & { verb: RulingVerb }) {
  const [chosen, setChosen] = useState(verb);
  const [note, setNote] = useState(edit.note);
  const [otherwise, setOtherwise] = useState<"allow" | "block" | "scored">(edit.ruling ?? "scored");
  const [contexts, setContexts] = useState<readonly Written[]>(() => {
    const written = [...write("innocent", edit.innocentIf), ...write("counts", edit.countsIf)];
    return hasSenses(edit) ? written : [NEW_CONTEXT];
  });
  const isWhole = chosen !== "sense" || contexts.every((context) => findFault(context) === undefined);

  function rule() {
    if (!isWhole) return;
    const read = (kind: Kind) => contexts.filter((context) => context.kind === kind).map(readContext);
    if (chosen === "sense") {
      onRule({
        word: edit.word,
        ruling: otherwise === "scored" ? null : otherwise,
        innocentIf: read("innocent"),
        countsIf: read("counts"),
        note,
      });
    } else {
      onRule({ word: edit.word, ruling: chosen === "none" ? null : chosen, innocentIf: [], countsIf: [], note });
    }
  }

  const change = (place: number, part: Partial<Written>) =>
    setContexts(contexts.map((context, other) => (other === place ? { ...context, ...part } : context)));

  return (
    <Form onSubmit={rule} label={`Rule on “${edit.word}”`}>
      <ToggleButtonGroup
        className={styles.choice}
        aria-label="What to rule"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[chosen]}
        onSelectionChange={(keys) => {
          const [key] = keys;
          if (key !== undefined) setChosen(key as RulingVerb);
        }}
      >
        {Object.entries(VERBS).map(([key, { label }]) => (
          <ToggleButton key={key} id={key}>
            {label}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <p className={styles.note}>{VERBS[chosen].meaning}</p>
      {chosen === "sense" && (
        <>
          {contexts.map((context, place) => (
            <ContextFields
              key={place}
              number={place + 1}
              context={context}
              onChange={(part) => change(place, part)}
              onRemove={
                contexts.length > 1 ? () => setContexts(contexts.filter((_, other) => other !== place)) : undefined
              }
            />
          ))}
          <div>
            <Button isSmall onPress={() => setContexts([...contexts, NEW_CONTEXT])}>
              <Plus size={15} aria-hidden /> Another sense
            </Button>
          </div>
          <SelectField
            label="Anywhere else"
            value={otherwise}
            onChange={setOtherwise}
            options={[
              { value: "scored", label: "Its score decides" },
              { value: "allow", label: "It does not count" },
              { value: "block", label: "It counts" },
            ]}
            description="Where none of these words is near."
          />
        </>
      )}
      {chosen !== "none" && (
        <TextField
          label="Note"
          value={note}
          onChange={setNote}
          autoFocus={chosen !== "sense"}
          maxLength={2_000}
          description="Why, for those who read it later. Return puts it on your list; nothing is saved yet."
        />
      )}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={!isWhole} autoFocus={chosen === "none"}>
          Put on the list
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}

interface ContextFieldsProps {
  number: number;
  context: Written;
  onChange: (part: Partial<Written>) => void;
  onRemove?: () => void;
}

function ContextFields({ number, context, onChange, onRemove }: ContextFieldsProps) {
  return (
    <fieldset className={styles.context}>
      <legend>Sense {number}</legend>
      <SelectField
        label="The word"
        value={context.kind}
        onChange={(kind) => onChange({ kind })}
        options={[
          { value: "innocent", label: "does not count" },
          { value: "counts", label: "counts" },
        ]}
      />
      <TextField
        label="near any of these words"
        value={context.words}
        onChange={(words) => onChange({ words })}
        error={context.words === "" ? undefined : findFault(context)}
        placeholder="prison, jail, honeycomb"
        isRequired
        autoFocus={number === 1}
        description="Each in the forms that texts have, between spaces or commas."
      />
      <div className={styles.pair}>
        <TextField
          label="Words before it"
          type="number"
          min={0}
          max={50}
          value={context.left}
          onChange={(left) => onChange({ left })}
        />
        <TextField
          label="Words after it"
          type="number"
          min={0}
          max={50}
          value={context.right}
          onChange={(right) => onChange({ right })}
        />
      </div>
      {onRemove && (
        <div>
          <Button isSmall look="quiet" onPress={onRemove}>
            <X size={15} aria-hidden /> Without this sense
          </Button>
        </div>
      )}
    </fieldset>
  );
}

function write(kind: Kind, contexts: readonly SenseContext[]): Written[] {
  return contexts.map(({ words, left, right }) => ({
    kind,
    words: words.join(", "),
    left: String(left),
    right: String(right),
  }));
}

function readContext({ words, left, right }: Written): SenseContext {
  return { words: readWords(words).words, left: Number(left), right: Number(right) };
}

/** What is wrong with a context; undefined while it is right. */
function findFault({ words, left, right }: Written): string | undefined {
  const read = readWords(words);
  if (read.wrong.length > 0) {
    return `Only words of two or more letters a-z: not ${read.wrong
      .slice(0, 3)
      .map((word) => `“${word}”`)
      .join(", ")}.`;
  }
  if (read.words.length === 0) return "Name a word.";
  const isWindow = (written: string) => /^\d{1,2}$/.test(written) && Number(written) <= 50;
  if (!isWindow(left) || !isWindow(right)) return "Look at 0 to 50 words on either side.";
  return Number(left) + Number(right) === 0 ? "Look at a word on one side at least." : undefined;
}
