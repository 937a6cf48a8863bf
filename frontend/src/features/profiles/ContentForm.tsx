import { useState } from "react";
import { CheckField, FieldRow, SelectField, TextField } from "@/components/fields";
import { describeStage } from "@/words/terms";
import { describeThreshold, formatThreshold } from "@/words/thresholds";
import {
  COMMON_FIELDS,
  parseValue,
  readPlace,
  showValue,
  STAGES,
  writePlace,
  type Content,
  type StageDescription,
} from "./content";
import styles from "./profiles.module.css";

type Field = (typeof COMMON_FIELDS)[number];

const NOT_ASKED = "-";

interface ContentFormProps {
  content: Content;
  onChange: (content: Content) => void;
  onErrors: (hasErrors: boolean) => void;
}

export function ContentForm({ content, onChange, onErrors }: ContentFormProps) {
  // What was written and is not a value stays in its field until it is mended.
  const [wrong, setWrong] = useState<Record<string, { text: string; error: string }>>({});

  function write(field: Field, text: string) {
    const { value, error } = parseValue(field, text);
    const next = { ...wrong };
    if (error) next[field.path] = { text, error };
    else Reflect.deleteProperty(next, field.path);
    setWrong(next);
    onErrors(Object.keys(next).length > 0);
    onChange(error ? { ...content } : writePlace(content, field.path, value));
  }

  const fieldProps = (field: Field) => ({
    field,
    text: wrong[field.path]?.text ?? showValue(readPlace(content, field.path)),
    error: wrong[field.path]?.error,
    onWrite: (text: string) => write(field, text),
  });

  return (
    <div className={styles.stages}>
      {COMMON_FIELDS.map((field) => (
        <ThresholdField key={field.path} {...fieldProps(field)} />
      ))}
      {STAGES.map((stage) => (
        <StageFields
          key={stage.stage}
          stage={stage}
          isOn={Boolean(content[stage.stage])}
          onSwitch={(isOn) => onChange({ ...content, [stage.stage]: isOn ? stage.fresh : null })}
        >
          {stage.fields.map((field) => (
            <ThresholdField key={field.path} {...fieldProps(field)} />
          ))}
        </StageFields>
      ))}
    </div>
  );
}

interface StageFieldsProps {
  stage: StageDescription;
  isOn: boolean;
  onSwitch: (isOn: boolean) => void;
  children: React.ReactNode;
}

function StageFields({ stage: { stage }, isOn, onSwitch, children }: StageFieldsProps) {
  const { label, meaning } = describeStage(stage);
  return (
    <fieldset className={styles.stage}>
      <CheckField label={label} description={meaning} isSelected={isOn} onChange={onSwitch} />
      {isOn && <FieldRow>{children}</FieldRow>}
    </fieldset>
  );
}

interface ThresholdFieldProps {
  field: Field;
  text: string;
  error: string | undefined;
  onWrite: (text: string) => void;
}

function ThresholdField({ field, text, error, onWrite }: ThresholdFieldProps) {
  const { label, unit, meaning } = describeThreshold(field.path);
  if (field.kind === "choice") {
    const options = (field.choices ?? []).map((value) => ({ value, label: formatThreshold(field.path, value) }));
    return (
      <SelectField
        label={label}
        description={meaning}
        value={text || NOT_ASKED}
        onChange={(value) => onWrite(value === NOT_ASKED ? "" : value)}
        options={field.isOptional ? [{ value: NOT_ASKED, label: "not asked" }, ...options] : options}
      />
    );
  }
  return (
    <TextField
      label={unit ? `${label} (${unit})` : label}
      description={field.isOptional ? `${meaning} Empty: not asked.` : meaning}
      value={text}
      onChange={onWrite}
      error={error}
      lines={field.kind === "text" ? "text" : undefined}
      rows={field.kind === "text" ? 3 : undefined}
    />
  );
}
