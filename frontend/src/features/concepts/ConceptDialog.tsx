import { useState } from "react";
import type { Concept } from "@/api/catalogues";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { FieldRow, Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { CONCEPT_FIELDS, CONCEPT_GRADES, SUBJECTS } from "@/words/concepts";
import {
  EMPTY_FIELDS,
  EMPTY_SENSE,
  makeId,
  readFields,
  writeFields,
  type ConceptFields,
  type SenseFields,
} from "./concept-text";
import styles from "./concepts.module.css";

interface ConceptDialogProps {
  isOpen: boolean;
  onClose: () => void;
  /** Null: a new one. */
  concept: Concept | null;
  isTaken: (id: string) => boolean;
  onPut: (concept: Concept) => void;
}

export function ConceptDialog({ isOpen, ...props }: ConceptDialogProps) {
  const title = props.concept ? `Change ${props.concept.name}` : "Add a concept";
  return (
    <Dialog title={title} isOpen={isOpen} onClose={props.onClose} isWide>
      {isOpen && <ConceptForm {...props} />}
    </Dialog>
  );
}

const GRADES = Object.entries(CONCEPT_GRADES).map(([value, { label, meaning }]) => ({
  value: value as ConceptFields["band"],
  label,
  description: meaning,
}));
const SUBJECT_OPTIONS = Object.entries(SUBJECTS).map(([value, label]) => ({
  value: value as ConceptFields["subject"],
  label,
}));
const LINES = ["terms", "verbs", "exact"] as const;
const EXCUSES = ["innocent", "not_near"] as const;

/** What is filled in becomes part of the edit; the edit is saved as a whole. */
function ConceptForm({ onClose, concept, isTaken, onPut }: Omit<ConceptDialogProps, "isOpen">) {
  const [fields, setFields] = useState(() => (concept ? writeFields(concept) : EMPTY_FIELDS));
  const [isTried, setIsTried] = useState(false);
  const read = readFields(fields, concept?.id ?? makeId(fields.name, isTaken));

  function change(changed: Partial<ConceptFields>) {
    setFields({ ...fields, ...changed });
  }

  function changeSense(place: number, changed: Partial<SenseFields>) {
    change({ senses: fields.senses.map((sense, other) => (other === place ? { ...sense, ...changed } : sense)) });
  }

  function submit() {
    setIsTried(true);
    if ("concept" in read) onPut(read.concept);
  }

  const lines = (field: (typeof LINES)[number] | (typeof EXCUSES)[number]) => (
    <TextField
      key={field}
      label={CONCEPT_FIELDS[field].label}
      value={fields[field]}
      onChange={(value) => change({ [field]: value })}
      lines="text"
      rows={3}
      description={`One a line. ${CONCEPT_FIELDS[field].meaning}`}
    />
  );

  return (
    <Form onSubmit={submit} label={concept ? "Change a concept" : "Add a concept"}>
      <TextField
        label="Name"
        value={fields.name}
        onChange={(name) => change({ name })}
        isRequired
        maxLength={80}
        autoFocus
      />
      <FieldRow>
        <SelectField
          label={CONCEPT_FIELDS.subject.label}
          value={fields.subject}
          onChange={(subject) => change({ subject })}
          options={SUBJECT_OPTIONS}
        />
        <SelectField
          label={CONCEPT_FIELDS.band.label}
          value={fields.band}
          onChange={(band) => change({ band })}
          options={GRADES}
          description="They must agree with the standard."
        />
      </FieldRow>
      <FieldRow>
        <TextField
          label={CONCEPT_FIELDS.standard.label}
          value={fields.standard}
          onChange={(standard) => change({ standard })}
          placeholder="such as 6.RP.A.1 or MS-LS1-1"
          description={CONCEPT_FIELDS.standard.meaning}
        />
        <TextField
          label={CONCEPT_FIELDS.basis.label}
          value={fields.basis}
          onChange={(basis) => change({ basis })}
          maxLength={80}
          description={CONCEPT_FIELDS.basis.meaning}
        />
      </FieldRow>
      <FieldRow>{LINES.map(lines)}</FieldRow>
      <fieldset className={styles.senseFields}>
        <legend>{CONCEPT_FIELDS.senses.label}</legend>
        <p className={styles.muted}>{CONCEPT_FIELDS.senses.meaning} Several are separated by commas.</p>
        {fields.senses.map((sense, place) => (
          <div key={place} className={styles.senseRow}>
            <TextField label="Words" value={sense.terms} onChange={(terms) => changeSense(place, { terms })} />
            <TextField label="Count near" value={sense.near} onChange={(near) => changeSense(place, { near })} />
            <TextField
              label="Within words"
              type="number"
              value={sense.within}
              onChange={(within) => changeSense(place, { within })}
              min={1}
              max={40}
            />
            <Button
              isSmall
              look="quiet"
              onPress={() => change({ senses: fields.senses.filter((_, other) => other !== place) })}
            >
              Take away
            </Button>
          </div>
        ))}
        <div>
          <Button isSmall onPress={() => change({ senses: [...fields.senses, EMPTY_SENSE] })}>
            Add words that count only near others
          </Button>
        </div>
      </fieldset>
      <FieldRow>{EXCUSES.map(lines)}</FieldRow>
      <FieldRow>
        <TextField
          label={CONCEPT_FIELDS.within.label}
          type="number"
          value={fields.within}
          onChange={(within) => change({ within })}
          min={1}
          max={40}
          description={CONCEPT_FIELDS.within.meaning}
        />
        <TextField
          label={CONCEPT_FIELDS.k5_neighbour.label}
          value={fields.k5_neighbour}
          onChange={(k5_neighbour) => change({ k5_neighbour })}
          maxLength={120}
          description={CONCEPT_FIELDS.k5_neighbour.meaning}
        />
      </FieldRow>
      {isTried && "problem" in read && (
        <p className={styles.failure} role="alert">
          {read.problem}
        </p>
      )}
      <FormButtons>
        <Button type="submit" look="primary">
          Add to your edit
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
        <span className={styles.muted}>Nothing is saved yet.</span>
      </FormButtons>
    </Form>
  );
}
