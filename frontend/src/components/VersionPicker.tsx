import { useQueries, useQuery } from "@tanstack/react-query";
import { profilesQuery, versionsQuery, type VersionSummary } from "@/api/profiles";
import { SelectField, type Option } from "./fields";

const OWN = "own";

interface VersionPickerProps {
  label: string;
  /** What stands for null: the profile that things have by themselves. */
  own: string;
  value: number | null;
  onChange: (id: number | null) => void;
  isLabelShown?: boolean;
}

/** Any published version of any profile. */
export function VersionPicker({ label, own, value, onChange, isLabelShown }: VersionPickerProps) {
  const versions = usePublishedVersions();
  const options: Option<string>[] = [
    { value: OWN, label: own },
    ...versions.map(({ id, name, version, note }) => ({
      value: String(id),
      label: `${name} v${version}`,
      description: note || undefined,
    })),
  ];
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

export function usePublishedVersions(): VersionSummary[] {
  const profiles = useQuery(profilesQuery);
  const lists = useQueries({ queries: (profiles.data ?? []).map(({ name }) => versionsQuery(name)) });
  return lists.flatMap(({ data }) => data ?? []).filter(({ state }) => state === "published");
}
