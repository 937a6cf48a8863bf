// What people fill in: a label, the control, a sentence of help, and what is wrong with it.
import { Check, ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import { Checkbox } from "react-aria-components/Checkbox";
import { FieldError } from "react-aria-components/FieldError";
import { Form as AriaForm } from "react-aria-components/Form";
import { Input } from "react-aria-components/Input";
import { Label } from "react-aria-components/Label";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import { Select, SelectValue } from "react-aria-components/Select";
import { Text } from "react-aria-components/Text";
import { TextArea } from "react-aria-components/TextArea";
import { TextField as AriaTextField } from "react-aria-components/TextField";
import styles from "./fields.module.css";

interface FieldProps {
  label: string;
  description?: ReactNode;
  isRequired?: boolean;
  isDisabled?: boolean;
  /** What is wrong; nothing while it is right. */
  error?: string;
}

interface TextFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password" | "search" | "number";
  autoComplete?: string;
  autoFocus?: boolean;
  placeholder?: string;
  isReadOnly?: boolean;
  maxLength?: number;
  min?: number;
  max?: number;
  step?: number;
  /** Several lines; `code` in letters of one width. */
  lines?: "text" | "code";
  rows?: number;
}

export function TextField({
  label,
  description,
  error,
  lines,
  rows,
  placeholder,
  min,
  max,
  step,
  ...props
}: TextFieldProps) {
  const control = lines ? (
    <TextArea
      className={`${styles.input} ${styles.area} ${lines === "code" ? styles.mono : ""}`}
      rows={rows}
      placeholder={placeholder}
      spellCheck={lines === "text"}
    />
  ) : (
    <Input className={styles.input} placeholder={placeholder} min={min} max={max} step={step} />
  );
  return (
    <AriaTextField {...props} isInvalid={Boolean(error)} validationBehavior="aria" className={styles.field}>
      <Label className={styles.label}>{label}</Label>
      {control}
      {description && (
        <Text slot="description" className={styles.description}>
          {description}
        </Text>
      )}
      <FieldError className={styles.error}>{error}</FieldError>
    </AriaTextField>
  );
}

export interface Option<T extends string> {
  value: T;
  label: string;
  description?: string;
}

interface SelectFieldProps<T extends string> extends FieldProps {
  value: T | null;
  onChange: (value: T) => void;
  options: readonly Option<T>[];
  placeholder?: string;
  /** The label is for screen readers alone: what is chosen says enough. */
  isLabelHidden?: boolean;
}

export function SelectField<T extends string>({
  label,
  description,
  error,
  value,
  onChange,
  options,
  placeholder = "Choose…",
  isDisabled,
  isRequired,
  isLabelHidden,
}: SelectFieldProps<T>) {
  return (
    <Select
      className={styles.field}
      aria-label={isLabelHidden ? label : undefined}
      value={value}
      onChange={(key) => {
        if (key !== null) onChange(key as T);
      }}
      placeholder={placeholder}
      isDisabled={isDisabled}
      isRequired={isRequired}
      isInvalid={Boolean(error)}
      validationBehavior="aria"
    >
      {!isLabelHidden && <Label className={styles.label}>{label}</Label>}
      <Button className={styles.trigger}>
        <SelectValue className={styles.value} />
        <ChevronDown size={16} aria-hidden />
      </Button>
      {description && (
        <Text slot="description" className={styles.description}>
          {description}
        </Text>
      )}
      <FieldError className={styles.error}>{error}</FieldError>
      <Popover className={styles.popover}>
        <ListBox className={styles.options} items={options}>
          {(option) => (
            <ListBoxItem id={option.value} textValue={option.label} className={styles.option}>
              <Text slot="label">{option.label}</Text>
              {option.description && <Text slot="description">{option.description}</Text>}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

interface CheckFieldProps {
  label: string;
  description?: ReactNode;
  isSelected: boolean;
  onChange: (isSelected: boolean) => void;
  isDisabled?: boolean;
}

export function CheckField({ label, description, ...props }: CheckFieldProps) {
  return (
    <Checkbox {...props} className={styles.check}>
      {({ isSelected }) => (
        <>
          <span className={styles.box}>{isSelected && <Check size={15} strokeWidth={3} aria-hidden />}</span>
          <span>
            {label}
            {description && (
              <span className={styles.description}>
                {" – "}
                {description}
              </span>
            )}
          </span>
        </>
      )}
    </Checkbox>
  );
}

interface FormProps {
  onSubmit: () => void;
  children: ReactNode;
  label?: string;
}

export function Form({ onSubmit, children, label }: FormProps) {
  return (
    <AriaForm
      className={styles.form}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </AriaForm>
  );
}

export function FieldRow({ children }: { children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}

export function FormButtons({ children }: { children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}
