import type { ReactNode } from "react";
import type { Concept, ConceptChange } from "@/api/catalogues";
import { StateBadge } from "@/components/StateBadge";
import { CONCEPT_FIELDS, describeGrades, describeSubject, type ConceptField } from "@/words/concepts";
import { plural } from "@/words/numbers";
import type { StateTerm } from "@/words/terms";
import styles from "./concepts.module.css";

const ADDED: StateTerm = { label: "Added", tone: "good", meaning: "It was not in the catalogue." };
const REMOVED: StateTerm = { label: "Removed", tone: "bad", meaning: "It is not in the catalogue any more." };
const CHANGED: StateTerm = { label: "Finds otherwise", tone: "warning", meaning: "What it finds may differ." };
const REWORDED: StateTerm = {
  label: "Described otherwise",
  tone: "neutral",
  meaning: "It finds the same as before: nothing must be measured again for it.",
};

interface ChangeListProps {
  label: string;
  changes: readonly ConceptChange[];
  /** What can be done with a change, beside its name. */
  actions?: (id: string) => ReactNode;
}

/** What one version says otherwise than another, concept by concept and word by word. */
export function ChangeList({ label, changes, actions }: ChangeListProps) {
  return (
    <ul className={styles.changes} aria-label={label}>
      {changes.map((change) => (
        <li key={change.id} className={styles.change}>
          <div className={styles.changeHead}>
            <strong>
              <bdi>{(change.after ?? change.before)?.name ?? change.id}</bdi>
            </strong>
            <StateBadge term={describeKind(change)} />
            {actions?.(change.id)}
          </div>
          <dl className={styles.fields}>
            {listFields(change).map((field) => (
              <FieldChange key={field} field={field} change={change} />
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

function describeKind({ before, after, is_remeasured }: ConceptChange): StateTerm {
  if (before === null) return ADDED;
  if (after === null) return REMOVED;
  return is_remeasured ? CHANGED : REWORDED;
}

/** Those that differ; of a concept that is new or gone those that say something. */
function listFields({ fields, before, after }: ConceptChange): ConceptField[] {
  const all = Object.keys(CONCEPT_FIELDS) as ConceptField[];
  if (before !== null && after !== null) return all.filter((field) => fields.includes(field));
  const only = before ?? after;
  return all.filter((field) => field !== "name" && field !== "within" && only && say(only, field).length > 0);
}

function FieldChange({ field, change: { before, after } }: { field: ConceptField; change: ConceptChange }) {
  const old = before ? say(before, field) : [];
  const now = after ? say(after, field) : [];
  const isOnly = before === null || after === null;
  return (
    <>
      <dt title={CONCEPT_FIELDS[field].meaning}>{CONCEPT_FIELDS[field].label}</dt>
      <dd>
        {isOnly ? (
          [...old, ...now].map((word) => (
            <bdi key={word} className={styles.word}>
              {word}
            </bdi>
          ))
        ) : (
          <>
            {old
              .filter((word) => !now.includes(word))
              .map((word) => (
                <del key={word} className={styles.removed}>
                  <bdi>{word}</bdi>
                </del>
              ))}
            {now
              .filter((word) => !old.includes(word))
              .map((word) => (
                <ins key={word} className={styles.added}>
                  <bdi>{word}</bdi>
                </ins>
              ))}
            {old.length === now.length && old.every((word) => now.includes(word)) && "in another order"}
          </>
        )}
      </dd>
    </>
  );
}

/** A part of a concept as words that can be compared. */
function say(concept: Concept, field: ConceptField): string[] {
  switch (field) {
    case "senses":
      return concept.senses.map(
        ({ terms, near, within }) => `${terms.join(", ")} within ${plural(within, "word")} of ${near.join(", ")}`,
      );
    case "subject":
      return [describeSubject(concept.subject)];
    case "band":
      return [describeGrades(concept.band).label];
    case "within":
      return [plural(concept.within, "word")];
    case "name":
    case "basis":
    case "k5_neighbour":
      return concept[field] ? [concept[field]] : [];
    case "standard":
      return concept.standard ? [concept.standard] : [];
    default:
      return concept[field];
  }
}
