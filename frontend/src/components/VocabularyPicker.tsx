import { useQueries, useQuery } from "@tanstack/react-query";
import { vocabulariesQuery, vocabularyVersionsQuery } from "@/api/vocabularies";
import { SelectField, type Option } from "./fields";

const OWN = "own";

interface VocabularyPickerProps {
  label: string;
  /** What stands for null. */
  own: string;
  value: number | null;
  onChange: (id: number | null) => void;
  isLabelShown?: boolean;
}

/** Any version of any vocabulary; nothing to choose from where there is none. */
export function VocabularyPicker({ label, own, value, onChange, isLabelShown }: VocabularyPickerProps) {
  const vocabularies = useQuery(vocabulariesQuery);
  const lists = useQueries({ queries: (vocabularies.data ?? []).map(({ name }) => vocabularyVersionsQuery(name)) });
  const versions = lists.flatMap(({ data }) => data ?? []);
  const options: Option<string>[] = [
    { value: OWN, label: own },
    ...versions.map(({ id, name, version, note, author }) => ({
      value: String(id),
      label: `Words: ${name} v${version}`,
      description: note ? `${author}: ${note}` : author,
    })),
  ];
  if (value !== null && !versions.some(({ id }) => id === value)) {
    options.push({ value: String(value), label: `Words: version number ${value}` });
  }
  if (options.length === 1) return null;
  return (
    <SelectField
      label={label}
      isLabelHidden={!isLabelShown}
      value={value === null ? OWN : String(value)}
      onChange={(id) => onChange(id === OWN ? null : Number(id))}
      options={options}
    />
  );
}
