import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  facetsQuery,
  type Band,
  type DecisionChoice,
  type DocumentQuery,
  type Facets,
  type Reading,
} from "@/api/documents";
import { Explained } from "@/components/Explained";
import { Indexed } from "@/components/Waiting";
import { formatCount, formatShortCount } from "@/words/numbers";
import { OUTCOMES, type Outcome } from "@/words/outcomes";
import { BANDS, describeRule, READINGS } from "@/words/signals";
import { describeStage } from "@/words/terms";
import styles from "./documents.module.css";

const FEW = 6;

interface FacetPanelProps {
  jobId: number;
  choice: DecisionChoice;
  query: DocumentQuery;
  onChange: (query: DocumentQuery) => void;
}

/** Exact counts of the query's documents by what they can be told apart by. Choosing one narrows the query. */
export function FacetPanel({ jobId, choice, query, onChange }: FacetPanelProps) {
  const facets = useQuery({ ...facetsQuery(jobId, choice, query), placeholderData: (previous) => previous });
  return (
    <aside className={styles.facets} aria-label="Narrow by" aria-busy={facets.isFetching}>
      <Indexed query={facets} what="the counts">
        {(found) => <Groups facets={found} query={query} onChange={onChange} />}
      </Indexed>
    </aside>
  );
}

interface Entry {
  key: string;
  label: string;
  meaning?: string;
  count: number;
  isOn: boolean;
  on: DocumentQuery;
  off: DocumentQuery;
}

function Groups({
  facets,
  query,
  onChange,
}: {
  facets: Facets;
  query: DocumentQuery;
  onChange: (query: DocumentQuery) => void;
}) {
  return listGroups(facets, query).map(({ title, meaning, entries, more }) => (
    <Group key={title} title={title} meaning={meaning} entries={entries} more={more} onChange={onChange} />
  ));
}

interface GroupProps {
  title: string;
  meaning: string;
  entries: readonly Entry[];
  more?: string;
}

function Group({ title, meaning, entries, more, onChange }: GroupProps & { onChange: (query: DocumentQuery) => void }) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? entries : entries.filter(({ isOn }, place) => isOn || place < FEW);
  if (entries.length === 0) return null;
  return (
    <section className={styles.facet} aria-label={title}>
      <h2 className={styles.facetTitle}>
        <Explained meaning={meaning}>{title}</Explained>
      </h2>
      <ul className={styles.entries}>
        {shown.map(({ key, label, meaning: entryMeaning, count, isOn, on, off }) => (
          <li key={key}>
            <button
              type="button"
              className={styles.entry}
              aria-pressed={isOn}
              title={entryMeaning ? `${label}: ${entryMeaning}` : label}
              onClick={() => onChange(isOn ? off : on)}
            >
              <bdi className={styles.entryLabel}>{label}</bdi>
              <span className={styles.count} title={`${formatCount(count)} documents`}>
                {formatShortCount(count)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {entries.length > shown.length && (
        <button type="button" className={styles.link} onClick={() => setIsWhole(true)}>
          {entries.length - shown.length} more
        </button>
      )}
      {isWhole && more && <p className={styles.note}>{more}</p>}
    </section>
  );
}

type TextField = "decided_by" | "excluded_by" | "undecided_for" | "rule" | "domain" | "shard";

function listGroups(facets: Facets, query: DocumentQuery): GroupProps[] {
  const by = (
    field: TextField,
    counts: Record<string, number>,
    describe: (value: string) => { label: string; meaning?: string },
  ) =>
    sortCounts(counts).map(([value, count]): Entry => ({
      key: value,
      ...describe(value),
      count,
      isOn: query[field] === value,
      on: { ...query, [field]: value },
      off: { ...query, [field]: null, ...(field === "excluded_by" ? { sole: null } : {}) },
    }));
  const sole = (certainty: "certain" | "possible", counts: Record<string, number>) =>
    sortCounts(counts).map(([stage, count]): Entry => ({
      key: `${certainty}:${stage}`,
      label: describeStage(stage).label + (certainty === "possible" ? ", as far as measured" : ""),
      meaning: describeStage(stage).meaning,
      count,
      isOn: query.sole === certainty && query.excluded_by === stage,
      on: { ...query, excluded_by: stage, sole: certainty },
      off: { ...query, excluded_by: null, sole: null },
    }));
  const outcomes = (["kept", "excluded", "undecided"] as const).map((outcome: Outcome): Entry => ({
    key: outcome,
    label: OUTCOMES[outcome].label,
    meaning: OUTCOMES[outcome].meaning,
    // What cannot be read is excluded, and counted apart.
    count: (facets.outcomes[outcome] ?? 0) + (outcome === "excluded" ? (facets.outcomes.error ?? 0) : 0),
    isOn: query.outcome === outcome,
    on: { ...query, outcome },
    off: { ...query, outcome: null },
  }));
  const name = (value: string) => ({ label: value });
  return [
    {
      title: "Decision",
      meaning: "What was decided of each document.",
      entries: outcomes.filter(({ count, isOn }) => count > 0 || isOn),
    },
    {
      title: "First cause",
      meaning: "The first stage that a document fails, in the published order of stages, or a person.",
      entries: by("decided_by", facets.decided_by, describeStage),
    },
    {
      title: "Only cause",
      meaning: "Nothing else excludes these documents: another threshold here would keep them.",
      entries: [...sole("certain", facets.sole_causes), ...sole("possible", facets.possible_sole_causes)],
    },
    {
      title: "Not measured",
      meaning: "What has to be measured before these documents can be decided.",
      entries: by("undecided_for", facets.undecided_for, describeStage),
    },
    {
      title: "Notation",
      meaning: "Formulas and symbols that are taught after grade 5.",
      entries: by("rule", facets.rules, (rule) => ({ label: describeRule(rule) })),
    },
    ...(Object.keys(READINGS) as Reading[]).map((reading) => ({
      title: READINGS[reading].label,
      meaning: READINGS[reading].meaning,
      entries: listBands(reading, facets.bands[reading] ?? {}, query),
    })),
    {
      title: "Site",
      meaning: "The host in the document's address.",
      entries: by("domain", Object.fromEntries(facets.domains), name),
      more: `${formatCount(facets.other_domains)} documents of ${formatCount(facets.other_domain_count)} other sites, ${formatCount(facets.no_domain)} without an address.`,
    },
    {
      title: "File",
      meaning: "The file of the source that holds the document.",
      entries: by("shard", facets.shards, name),
    },
  ];
}

/** Nothing of a reading that no document has. */
function listBands(reading: Reading, counts: Record<string, number>, query: DocumentQuery): Entry[] {
  const others = (query.bands ?? []).filter((condition) => condition.reading !== reading);
  const entries = (Object.keys(BANDS) as Band[]).map((band): Entry => ({
    key: band,
    label: BANDS[band].label,
    meaning: BANDS[band].meaning,
    count: counts[band] ?? 0,
    isOn: query.bands?.some((condition) => condition.reading === reading && condition.band === band) ?? false,
    on: { ...query, bands: [...others, { reading, band }] },
    off: { ...query, bands: others },
  }));
  const isAsked = entries.some(({ key, count, isOn }) => isOn || (key !== "not_measured" && count > 0));
  return isAsked ? entries.filter(({ count, isOn }) => count > 0 || isOn) : [];
}

function sortCounts(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
}
