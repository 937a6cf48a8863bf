import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import { differencesQuery, profilesQuery, type Difference, type Profile } from "@/api/profiles";
import { DataTable, type Column } from "@/components/DataTable";
import { Explained } from "@/components/Explained";
import { SelectField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { describeStage } from "@/words/terms";
import { describeThreshold, formatAsked } from "@/words/thresholds";
import styles from "./profiles.module.css";
import { useVersionOptions } from "./useVersionOptions";

const COLUMNS: readonly Column<Difference>[] = [
  {
    id: "what",
    header: "What",
    look: "wide",
    cell: ({ path }) => {
      const { label, meaning } = describeThreshold(path);
      const stage = nameStage(path);
      return (
        <>
          <Explained meaning={meaning}>{label}</Explained>
          {stage && <div className={styles.muted}>{stage}</div>}
        </>
      );
    },
  },
  { id: "before", header: "First", cell: ({ path, before }) => formatAsked(path, before) },
  { id: "after", header: "Second", cell: ({ path, after }) => formatAsked(path, after) },
];

function nameStage(path: string): string {
  const [stage = ""] = path.split(".");
  if (stage === "models") return "Models";
  return ["lexical", "fasttext", "encoder", "notation", "vocabulary"].includes(stage) ? describeStage(stage).label : "";
}

export default function ComparePage() {
  const profiles = useQuery(profilesQuery);
  return (
    <Page
      title="Compare two profiles"
      purpose="Where two versions ask different things, of the same profile or of two."
      back={{ href: "/profiles", label: "Profiles" }}
    >
      <Loaded query={profiles} what="the profiles">
        {(found) => <Comparison profiles={found} />}
      </Loaded>
    </Page>
  );
}

function Comparison({ profiles }: { profiles: readonly Profile[] }) {
  const [query, setQuery] = useSearchParams();
  const options = useVersionOptions(profiles);
  const before = query.get("before");
  const after = query.get("after");

  function choose(place: "before" | "after", id: string) {
    setQuery((current) => {
      current.set(place, id);
      return current;
    });
  }

  return (
    <>
      <Section title="Which">
        <div className={styles.picker}>
          <SelectField label="First" value={before} onChange={(id) => choose("before", id)} options={options} />
          <SelectField label="Second" value={after} onChange={(id) => choose("after", id)} options={options} />
        </div>
      </Section>
      {before && after && <Differences before={Number(before)} after={Number(after)} />}
    </>
  );
}

function Differences({ before, after }: { before: number; after: number }) {
  const differences = useQuery(differencesQuery(before, after));
  return (
    <Section title="Differences">
      <Loaded query={differences} what="the differences">
        {(found) => {
          const shown = found.filter(({ path }) => path !== "name" && path !== "version");
          return shown.length > 0 ? (
            <DataTable label="Differences" columns={COLUMNS} rows={shown} keyOf={({ path }) => path} />
          ) : (
            <p className={styles.muted}>They ask the same.</p>
          );
        }}
      </Loaded>
    </Section>
  );
}
