import { CheckField, FieldRow, SelectField, TextField, type Option } from "@/components/fields";
import { CONTROL_MATCHES } from "@/words/terms";
import type { Choices, Problems, Rulings } from "./choices";
import styles from "./exports.module.css";

interface ChoiceFieldsProps {
  choices: Choices;
  problem: Problems | null;
  onChange: (changed: Partial<Choices>) => void;
}

const RULINGS: readonly Option<Rulings>[] = [
  { value: "newest", label: "All up to now", description: "Whatever is ruled later does not change this export." },
  { value: "none", label: "None", description: "The profile alone decides." },
  { value: "upTo", label: "Up to a certain one", description: "To make an earlier export once more." },
];

const MATCHES = (Object.keys(CONTROL_MATCHES) as Choices["controlMatch"][]).map((value) => ({
  value,
  label: CONTROL_MATCHES[value].label,
  description: CONTROL_MATCHES[value].meaning,
}));

export function RulingFields({ choices, problem, onChange }: ChoiceFieldsProps) {
  return (
    <>
      <SelectField
        label="Rulings of people"
        value={choices.rulings}
        onChange={(rulings) => onChange({ rulings })}
        options={RULINGS}
        description="A ruling keeps or excludes a document whatever the profile says."
      />
      {choices.rulings === "upTo" && (
        <TextField
          label="Number of the last ruling that counts"
          type="number"
          value={choices.revision}
          onChange={(revision) => onChange({ revision })}
          error={problem?.revision}
          description="The page of the earlier export says it."
          min={1}
        />
      )}
    </>
  );
}

export function ChoiceFields({ choices, problem, onChange }: ChoiceFieldsProps) {
  return (
    <>
      <FieldRow>
        <TextField
          label="Most tokens"
          type="number"
          value={choices.budget}
          onChange={(budget) => onChange({ budget })}
          error={problem?.budget}
          placeholder="no limit"
          description="The curriculum ends before the first document that would exceed it. Usually: no limit."
          min={1}
        />
        <TextField
          label="Held back for validation (%)"
          type="number"
          value={choices.validation}
          onChange={(validation) => onChange({ validation })}
          error={problem?.validation}
          description="Share of the curriculum's documents, in files of their own. Usually: 0."
          min={0}
          max={99}
          step={0.1}
        />
      </FieldRow>
      <SelectField
        label="The unfiltered control has"
        value={choices.controlMatch}
        onChange={(controlMatch) => onChange({ controlMatch })}
        options={MATCHES}
        description="A control is unfiltered text from the same source, to compare a trained model with."
      />
      <CheckField
        label="Write the curriculum too"
        description="without it there are only the control's files, matched to the curriculum that is not written"
        isSelected={choices.holds === "both"}
        onChange={(isBoth) => onChange({ holds: isBoth ? "both" : "control" })}
      />
      {choices.holds === "both" && (
        <TextField
          label="Most documents that mention a concept beyond grade 5 (%)"
          type="number"
          value={choices.leaks}
          onChange={(leaks) => onChange({ leaks })}
          error={problem?.leaks}
          placeholder="nobody looks"
          description="Every document of the curriculum is searched for the concepts; with more of them the export fails."
          min={0}
          max={99}
          step={0.01}
        />
      )}
      <details className={styles.more}>
        <summary>Files and order</summary>
        <div className={styles.more}>
          <FieldRow>
            <TextField
              label="Size of a file (MiB)"
              type="number"
              value={choices.fileSize}
              onChange={(fileSize) => onChange({ fileSize })}
              error={problem?.fileSize}
              description="A file ends at this size, compressed; 1 MiB is 1,048,576 bytes. Usually: 256."
              min={0}
              step={0.0625}
            />
            <TextField
              label="Number that draws the control"
              type="number"
              value={choices.controlSeed}
              onChange={(controlSeed) => onChange({ controlSeed })}
              error={problem?.controlSeed}
              description="The same number draws the same documents. Usually: 0."
              min={0}
            />
          </FieldRow>
          <FieldRow>
            <SelectField
              label="Order of the documents"
              value={choices.order}
              onChange={(order) => onChange({ order })}
              options={[
                { value: "source", label: "As in the source" },
                { value: "mixed", label: "Mixed" },
              ]}
              description="Mix where training reads from the first document on. Usually: as in the source."
            />
            {choices.order === "mixed" && (
              <TextField
                label="Number that mixes"
                type="number"
                value={choices.orderSeed}
                onChange={(orderSeed) => onChange({ orderSeed })}
                error={problem?.orderSeed}
                description="The same number gives the same order."
                min={0}
              />
            )}
          </FieldRow>
        </div>
      </details>
    </>
  );
}
