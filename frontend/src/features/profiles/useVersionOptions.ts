import { useQueries } from "@tanstack/react-query";
import { versionsQuery, type Profile } from "@/api/profiles";
import type { Option } from "@/components/fields";

/** Every version of every profile, to choose from. */
export function useVersionOptions(profiles: readonly Profile[]): Option<string>[] {
  const lists = useQueries({ queries: profiles.map(({ name }) => versionsQuery(name)) });
  return lists
    .flatMap(({ data }) => data ?? [])
    .map(({ id, name, version, note }) => ({
      value: String(id),
      label: `${name} v${version}`,
      description: note || undefined,
    }));
}
