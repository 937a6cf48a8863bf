import { Search } from "lucide-react";
import { useEffect, useState, type Ref } from "react";
import { Input } from "react-aria-components/Input";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { Tooltip, TooltipTrigger } from "react-aria-components/Tooltip";
import type { RulingFilter, Subject } from "@/api/vocabularies";
import explained from "@/components/explained.module.css";
import { SelectField } from "@/components/fields";
import { SUBJECTS } from "@/words/concepts";
import { ALONE, LOOKS_HARMLESS, RULING_FILTERS } from "@/words/vocabulary";
import type { View } from "./address";
import styles from "./vocabulary.module.css";

const ANY = "any";
const WAITS_MS = 200;

interface FilterBarProps {
  view: View;
  onView: (change: Partial<View>, isReplacing: boolean) => void;
  field: Ref<HTMLInputElement>;
  /** Return in the search field leads to the table. */
  onDone: () => void;
}

/** Which words are listed. */
export function FilterBar({ view, onView, field, onDone }: FilterBarProps) {
  const { subject, ruling, isHarmless, isAlone } = view;
  return (
    <div className={styles.bar} role="search" aria-label="Which words">
      <SearchField view={view} onView={onView} field={field} onDone={onDone} />
      <SelectField
        label="Subject"
        isLabelHidden
        value={subject ?? ANY}
        onChange={(next: Subject | typeof ANY) => onView({ subject: next === ANY ? null : next }, false)}
        options={[
          { value: ANY, label: "Any subject" },
          ...(Object.entries(SUBJECTS) as [Subject, string][]).map(([value, label]) => ({
            value,
            label,
            description: "In a term of a concept of that subject.",
          })),
        ]}
      />
      <SelectField
        label="Ruling"
        isLabelHidden
        value={ruling ?? ANY}
        onChange={(next: RulingFilter | typeof ANY) => onView({ ruling: next === ANY ? null : next }, false)}
        options={[
          { value: ANY, label: "Ruled on or not" },
          ...(Object.entries(RULING_FILTERS) as [RulingFilter, string][]).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Switch
        label={LOOKS_HARMLESS.label}
        meaning={LOOKS_HARMLESS.meaning}
        isOn={isHarmless}
        onChange={(isOn) => onView({ isHarmless: isOn }, false)}
      />
      <Switch
        label={ALONE.label}
        meaning={ALONE.meaning}
        isOn={isAlone}
        onChange={(isOn) => onView({ isAlone: isOn }, false)}
      />
    </div>
  );
}

/** The letters are asked for once the writer pauses. */
function SearchField({ view, onView, field, onDone }: FilterBarProps) {
  const [text, setText] = useState(view.search);
  const [told, setTold] = useState(view.search);
  if (told !== view.search) {
    // The address was changed by something else, such as a step back.
    if (text === told) setText(view.search);
    setTold(view.search);
  }
  useEffect(() => {
    if (text === view.search) return undefined;
    const timer = setTimeout(() => onView({ search: text }, true), WAITS_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div className={styles.search}>
      <Search size={16} aria-hidden className={styles.searchIcon} />
      <Input
        ref={field}
        type="search"
        className={styles.searchInput}
        aria-label="Find a word"
        placeholder="Letters of a word"
        maxLength={100}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          onView({ search: text }, true);
          onDone();
        }}
      />
    </div>
  );
}

interface SwitchProps {
  label: string;
  meaning: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

function Switch({ label, meaning, isOn, onChange }: SwitchProps) {
  return (
    <TooltipTrigger delay={250} closeDelay={80}>
      <ToggleButton className={styles.switch} isSelected={isOn} onChange={onChange}>
        {label}
      </ToggleButton>
      <Tooltip className={explained.tooltip} offset={6}>
        {meaning}
      </Tooltip>
    </TooltipTrigger>
  );
}
