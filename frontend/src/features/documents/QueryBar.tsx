import { Search, X } from "lucide-react";
import { useState, type Ref } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { ComboBox } from "react-aria-components/ComboBox";
import { Input } from "react-aria-components/Input";
import { ListBox, ListBoxItem } from "react-aria-components/ListBox";
import { Popover } from "react-aria-components/Popover";
import type { DocumentQuery } from "@/api/documents";
import { Button } from "@/components/Button";
import { listConditions } from "./conditions";
import styles from "./documents.module.css";
import { addCondition, suggest } from "./suggestions";

interface QueryBarProps {
  query: DocumentQuery;
  onChange: (query: DocumentQuery) => void;
  field: Ref<HTMLInputElement>;
}

/** The conditions of the query, and a field for one more. */
export function QueryBar({ query, onChange, field }: QueryBarProps) {
  const [text, setText] = useState("");
  const conditions = listConditions(query);
  const suggestions = suggest(text);

  function choose(id: unknown) {
    const chosen = suggestions.find((suggestion) => suggestion.id === id);
    if (!chosen) return;
    if (chosen.condition) onChange(addCondition(query, chosen.condition));
    setText(chosen.text ?? "");
  }

  return (
    <div className={styles.query} role="search" aria-label="Which documents">
      <ComboBox
        aria-label="Add a condition"
        className={styles.search}
        items={suggestions}
        inputValue={text}
        onInputChange={setText}
        value={null}
        onChange={choose}
        allowsCustomValue
        menuTrigger="input"
      >
        <Search size={16} aria-hidden className={styles.searchIcon} />
        <Input
          ref={field}
          className={styles.searchInput}
          placeholder="A site, an address, a word, or a number like length > 500"
        />
        <Popover className={styles.popover}>
          <ListBox className={styles.suggestions}>
            {(suggestion: (typeof suggestions)[number]) => (
              <ListBoxItem
                id={suggestion.id}
                textValue={suggestion.text ?? suggestion.label}
                className={styles.suggestion}
              >
                <bdi>{suggestion.label}</bdi>
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </ComboBox>
      {conditions.length > 0 && (
        <ul className={styles.chips} aria-label="Conditions">
          {conditions.map(({ key, label, rest }) => (
            <li key={key} className={styles.chip}>
              <bdi>{label}</bdi>
              <AriaButton className={styles.chipButton} aria-label={`Without: ${label}`} onPress={() => onChange(rest)}>
                <X size={14} aria-hidden />
              </AriaButton>
            </li>
          ))}
          {conditions.length > 1 && (
            <li>
              <Button look="quiet" isSmall onPress={() => onChange({})}>
                Without any
              </Button>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
