import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Input } from "react-aria-components/Input";
import type { DecisionChoice } from "@/api/documents";
import { concordanceQuery, type Concordance as Found, type Line } from "@/api/vocabularies";
import { Concordance } from "@/components/Concordance";
import { CheckField, SelectField } from "@/components/fields";
import { EmptyState } from "@/components/states";
import { Indexed } from "@/components/Waiting";
import { formatCount, plural } from "@/words/numbers";
import { describeStage } from "@/words/terms";
import { SENSES } from "@/words/vocabulary";
import type { Places } from "./address";
import styles from "./vocabulary.module.css";

interface PlacesSectionProps {
  jobId: number;
  choice: DecisionChoice;
  versionId: number | null;
  word: string;
  places: Places;
  onChange: (places: Places) => void;
}

const ANY = "any";

/** The word in its contexts. */
export function PlacesSection({ jobId, choice, versionId, word, places, onChange }: PlacesSectionProps) {
  const found = useQuery({
    ...concordanceQuery(jobId, choice, word, {
      outcome: places.outcome,
      is_sole: places.isAlone,
      domain: places.site || null,
      sort: places.sort,
      seed: 0,
    }),
    placeholderData: (previous, query) => (query?.queryKey.includes(word) ? previous : undefined),
  });
  return (
    <section className={styles.places} aria-label="Where it stands">
      <h3>Where it stands</h3>
      <div className={styles.controls}>
        <SelectField
          label="From"
          isLabelHidden
          value={places.outcome ?? ANY}
          onChange={(outcome) => onChange({ ...places, outcome: outcome === ANY ? null : outcome })}
          options={[
            { value: ANY, label: "From all documents" },
            { value: "kept", label: "From kept ones" },
            { value: "excluded", label: "From excluded ones" },
            { value: "undecided", label: "From undecided ones" },
          ]}
        />
        <SelectField
          label="Order"
          isLabelHidden
          value={places.sort}
          onChange={(sort) => onChange({ ...places, sort })}
          options={[
            { value: "document", label: "As in the source" },
            { value: "left", label: "By the word before" },
            { value: "right", label: "By the word after" },
            { value: "domain", label: "By site" },
          ]}
        />
        <SiteField key={places.site} site={places.site} onChange={(site) => onChange({ ...places, site })} />
        <CheckField
          label="Lost to words alone"
          isSelected={places.isAlone}
          onChange={(isAlone) => onChange({ ...places, isAlone })}
        />
      </div>
      <Indexed query={found} what="where it stands">
        {(read) => <Lines read={read} jobId={jobId} versionId={versionId} />}
      </Indexed>
    </section>
  );
}

/** Asked for with Return, or when the field is left: every letter would be another question. */
function SiteField({ site, onChange }: { site: string; onChange: (site: string) => void }) {
  const [text, setText] = useState(site);
  const ask = () => text.trim().toLowerCase() !== site && onChange(text.trim().toLowerCase());
  return (
    <form
      className={styles.site}
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
      onBlur={ask}
    >
      <Input
        className={styles.input}
        aria-label="Site"
        placeholder="Any site"
        maxLength={300}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}

function Lines({ read, jobId, versionId }: { read: Found; jobId: number; versionId: number | null }) {
  if (read.lines.length === 0) return <EmptyState title="Nowhere here">No such document holds the word.</EmptyState>;
  return (
    <>
      <Concordance
        label="Places"
        lines={read.lines.map((line) => ({
          key: `${line.position}:${line.start}`,
          left: line.left,
          match: line.match,
          right: line.right,
          domain: line.domain,
          outcome: line.outcome,
          note: <Note line={line} />,
          href: nameDocument(jobId, versionId, line.position),
        }))}
      />
      <p className={styles.note}>
        {formatCount(read.lines.length)} of {plural(read.occurrences, "place")} in{" "}
        {plural(read.documents_read, "document")}
        {read.is_sampled ? `, drawn at random from ${formatCount(read.documents)}` : ""}.
      </p>
    </>
  );
}

function Note({ line: { decided_by, outcome, sense } }: { line: Line }) {
  return (
    <>
      {outcome === "excluded" && decided_by && (
        <span title={describeStage(decided_by).meaning}>{describeStage(decided_by).label.toLowerCase()}</span>
      )}
      {sense && <span title={SENSES[sense].meaning}> · {SENSES[sense].label}</span>}
    </>
  );
}

export function nameDocument(jobId: number, versionId: number | null, position: number): string {
  return `/documents/${jobId}?${versionId === null ? "" : `words=${versionId}&`}at=${position}`;
}
