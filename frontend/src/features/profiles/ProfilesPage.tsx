import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { profilesQuery, type Profile } from "@/api/profiles";
import { useIsAllowed } from "@/api/roles";
import { Button, ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { formatCount } from "@/words/numbers";
import { NewDraftDialog } from "./NewDraftDialog";
import { VERSION_STATES } from "./states";

const COLUMNS: readonly Column<Profile>[] = [
  {
    id: "name",
    header: "Profile",
    cell: ({ name, newest }) => <Link href={`/profiles/${name}/${newest.version}`}>{name}</Link>,
    sortBy: ({ name }) => name,
  },
  { id: "newest", header: "Newest version", look: "number", cell: ({ newest }) => newest.version },
  {
    id: "state",
    header: "State",
    look: "fit",
    cell: ({ newest }) => <StateBadge term={VERSION_STATES[newest.state]} />,
  },
  { id: "count", header: "Versions", look: "number", cell: ({ version_count }) => formatCount(version_count) },
  { id: "note", header: "Note", cell: ({ newest }) => newest.note || "–" },
  { id: "author", header: "By", cell: ({ newest }) => newest.author, isSecondary: true },
  {
    id: "changed",
    header: "Changed",
    look: "fit",
    cell: ({ newest }) => <Moment at={newest.changed_at} />,
    sortBy: ({ newest }) => newest.changed_at,
    isSecondary: true,
  },
];

export default function ProfilesPage() {
  const profiles = useQuery(profilesQuery);
  const [query, setQuery] = useSearchParams();
  const templateId = query.get("from");
  const [isCreating, setIsCreating] = useState(templateId !== null);
  const mayDraft = useIsAllowed("profiles");
  return (
    <Page
      title="Profiles"
      purpose="A profile is the boundary: the thresholds that decide what a finished fifth-grader can read."
      actions={
        <>
          <ButtonLink href="/profiles/compare">Compare two</ButtonLink>
          {mayDraft && (
            <Button look="primary" onPress={() => setIsCreating(true)}>
              New profile
            </Button>
          )}
        </>
      }
    >
      <Loaded query={profiles} what="the profiles">
        {(found) => (
          <>
            <Section title="All profiles">
              <DataTable label="Profiles" columns={COLUMNS} rows={found} keyOf={({ name }) => name} />
            </Section>
            <NewDraftDialog
              isOpen={isCreating}
              onClose={() => {
                setIsCreating(false);
                setQuery({}, { replace: true });
              }}
              profiles={found}
              templateId={templateId}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
