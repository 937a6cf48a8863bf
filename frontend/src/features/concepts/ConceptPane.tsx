import { useQuery } from "@tanstack/react-query";
import { Pencil, Trash2, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import { conceptPlacesQuery, type MentionCounts, type PlaceSort, type ReportAsked } from "@/api/concepts";
import type { Concept } from "@/api/catalogues";
import { Button } from "@/components/Button";
import { Concordance } from "@/components/Concordance";
import { Explained } from "@/components/Explained";
import { Facts, Figures, type Fact } from "@/components/Figures";
import { SelectField, type Option } from "@/components/fields";
import { Indexed } from "@/components/Waiting";
import {
  CONCEPT_FIELDS,
  describeGrades,
  describeSubject,
  explainStandard,
  formatInterval,
  formatLeakShare,
  INTERVAL_MEANING,
  NO_STANDARD,
  type ConceptField,
} from "@/words/concepts";
import { formatCount, formatShare, plural } from "@/words/numbers";
import { OUTCOMES } from "@/words/outcomes";
import { describeStage } from "@/words/terms";
import type { PlacesShown } from "./address";
import styles from "./concepts.module.css";
import { rankCauses } from "./rows";

interface ConceptPaneProps {
  asked: ReportAsked | null;
  concept: Concept;
  counts: MentionCounts | null;
  /** All kept documents of the job. */
  kept: number;
  places: PlacesShown;
  onPlaces: (places: PlacesShown) => void;
  sort: PlaceSort;
  onSort: (sort: PlaceSort) => void;
  onStandard: (standard: string) => void;
  onClose: () => void;
  /** Undefined for who may not, or where there is nothing to edit. */
  onChange?: () => void;
  onRemove?: () => void;
  /** Said where it is part of the edit, or why it cannot be. */
  note?: ReactNode;
}

/** One concept: what it is made of, what the boundary does to it, and where it stands in documents. */
export function ConceptPane(props: ConceptPaneProps) {
  const {
    asked,
    concept,
    counts,
    kept,
    places,
    onPlaces,
    sort,
    onSort,
    onStandard,
    onClose,
    onChange,
    onRemove,
    note,
  } = props;
  const grades = describeGrades(concept.band);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
    <section className={styles.pane} aria-label="Concept" tabIndex={0}>
      <header className={styles.paneHead}>
        <div className={styles.paneTitle}>
          <h2>
            <bdi>{concept.name}</bdi>
          </h2>
          <p className={styles.muted}>
            {describeSubject(concept.subject)} · <span title={grades.meaning}>{grades.label}</span> ·{" "}
            <button
              type="button"
              className={styles.link}
              title={`${explainStandard(concept.standard ?? null)} Show every concept of it.`}
              onClick={() => onStandard(concept.standard ?? "")}
            >
              {concept.standard ?? NO_STANDARD}
            </button>
          </p>
        </div>
        <div className={styles.paneButtons}>
          {onChange && (
            <Button isSmall onPress={onChange}>
              <Pencil size={15} aria-hidden /> Change
            </Button>
          )}
          {onRemove && (
            <Button isSmall onPress={onRemove}>
              <Trash2 size={15} aria-hidden /> Remove
            </Button>
          )}
          <Button isSmall look="quiet" aria-label="Close the concept" onPress={onClose}>
            <X size={16} aria-hidden />
          </Button>
        </div>
      </header>
      {note && <p className={styles.muted}>{note}</p>}
      {counts && <Counted counts={counts} kept={kept} />}
      <Made concept={concept} />
      {asked && counts && (
        <Places asked={asked} concept={concept} places={places} onPlaces={onPlaces} sort={sort} onSort={onSort} />
      )}
    </section>
  );
}

function Counted({ counts, kept }: { counts: MentionCounts; kept: number }) {
  const causes = rankCauses(counts.excluded_by);
  return (
    <section className={styles.part} aria-label="What happens to it">
      <Figures
        figures={[
          {
            label: "Mention it",
            value: formatCount(counts.documents),
            unit: counts.documents === 1 ? "document" : "documents",
            meaning: `At least once; ${plural(counts.hits, "place")} in ${plural(counts.tokens, "token")} of text.`,
          },
          {
            label: "Excluded",
            value: formatCount(counts.excluded),
            unit: formatShare(counts.excluded, counts.documents),
            meaning: `Documents, and their share of those that mention it. They are ${plural(counts.excluded_tokens, "token")} long.`,
          },
          {
            label: "In kept text",
            value: formatCount(counts.kept),
            unit: counts.kept > 0 ? formatLeakShare(counts.kept_share) : undefined,
            meaning: `Documents, and their share of all ${formatCount(kept)} that are kept: between ${formatInterval(counts.kept_interval)}. ${INTERVAL_MEANING}`,
          },
          ...(counts.undecided > 0
            ? [
                {
                  label: "Undecided",
                  value: formatCount(counts.undecided),
                  meaning: "Documents for which a measurement that decides is missing.",
                },
              ]
            : []),
        ]}
      />
      {causes.length > 0 && (
        <ul className={styles.causes} aria-label="Which stages exclude its documents">
          {causes.map(([stage, documents]) => {
            const { label, meaning } = describeStage(stage);
            const sole = counts.sole_cause[stage] ?? 0;
            return (
              <li key={stage}>
                <Explained meaning={meaning}>{label}</Explained>
                <span
                  className={styles.numeric}
                  title="Excluded documents that this stage excludes, others too or not."
                >
                  {plural(documents, "document")}
                </span>
                <span
                  className={styles.muted}
                  title="Documents that nothing else excludes: they would be kept without it."
                >
                  {sole > 0 ? `${formatCount(sole)} by this alone` : "none by this alone"}
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

const WORD_FIELDS = ["terms", "verbs", "exact", "innocent", "not_near"] as const;

function Made({ concept }: { concept: Concept }) {
  const fact = (field: ConceptField, value: ReactNode): Fact => ({ ...CONCEPT_FIELDS[field], value });
  const words = WORD_FIELDS.filter((field) => concept[field].length > 0).map((field) =>
    fact(field, <Words words={concept[field]} />),
  );
  const [before, after] = [
    words.filter(({ label }) => label !== CONCEPT_FIELDS.innocent.label && label !== CONCEPT_FIELDS.not_near.label),
    words.filter(({ label }) => label === CONCEPT_FIELDS.innocent.label || label === CONCEPT_FIELDS.not_near.label),
  ];
  const senses = concept.senses.length > 0 && fact("senses", <Senses concept={concept} />);
  return (
    <section className={styles.part} aria-label="What shows it">
      <Facts
        facts={[
          ...before,
          ...(senses ? [senses] : []),
          ...after,
          fact("k5_neighbour", concept.k5_neighbour ? <bdi>{concept.k5_neighbour}</bdi> : "nothing noted"),
          ...(concept.basis ? [fact("basis", <bdi>{concept.basis}</bdi>)] : []),
        ]}
      />
    </section>
  );
}

function Senses({ concept }: { concept: Concept }) {
  return (
    <ul className={styles.senses}>
      {concept.senses.map(({ terms, near, within }) => (
        <li key={terms.join() + near.join()}>
          <Words words={terms} />
          <span className={styles.muted}> within {plural(within, "word")} of </span>
          <Words words={near} />
        </li>
      ))}
    </ul>
  );
}

const MOST_WORDS = 6;

/** Long lists are whole once somebody asks for it. */
function Words({ words }: { words: readonly string[] }) {
  const [isWhole, setIsWhole] = useState(words.length <= MOST_WORDS + 2);
  const shown = isWhole ? words : words.slice(0, MOST_WORDS);
  return (
    <span className={styles.words}>
      {shown.map((word) => (
        <bdi key={word} className={styles.word}>
          {word}
        </bdi>
      ))}
      {!isWhole && (
        <button type="button" className={styles.link} onClick={() => setIsWhole(true)}>
          and {words.length - MOST_WORDS} more
        </button>
      )}
    </span>
  );
}

const SHOWN: readonly { id: PlacesShown; label: string }[] = [
  { id: "kept", label: OUTCOMES.kept.label },
  { id: "excluded", label: OUTCOMES.excluded.label },
  { id: "undecided", label: OUTCOMES.undecided.label },
  { id: "all", label: "All" },
];

const SORTS: readonly Option<PlaceSort>[] = [
  { value: "document", label: "As in the source" },
  { value: "left", label: "By the words before" },
  { value: "right", label: "By the words after" },
  { value: "domain", label: "By site" },
];

interface PlacesProps {
  asked: ReportAsked;
  concept: Concept;
  places: PlacesShown;
  onPlaces: (places: PlacesShown) => void;
  sort: PlaceSort;
  onSort: (sort: PlaceSort) => void;
}

function Places({ asked, concept, places, onPlaces, sort, onSort }: PlacesProps) {
  const outcome = places === "all" ? null : places;
  const found = useQuery({
    ...conceptPlacesQuery(asked, concept.id, { outcome, sort }),
    placeholderData: (before) => (before?.concept === concept.id ? before : undefined),
  });
  const profile = typeof asked.choice.profile_id === "number" ? `&profile=${asked.choice.profile_id}` : "";
  return (
    <section className={styles.part} aria-label="Where it stands">
      <div className={styles.placesHead}>
        <h3>Where it stands</h3>
        <ToggleButtonGroup
          className={styles.choice}
          aria-label="Of which documents"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[places]}
          onSelectionChange={(keys) => {
            const [chosen] = keys;
            if (chosen !== undefined) onPlaces(chosen as PlacesShown);
          }}
        >
          {SHOWN.map(({ id, label }) => (
            <ToggleButton key={id} id={id}>
              {label}
            </ToggleButton>
          ))}
        </ToggleButtonGroup>
        <SelectField label="Order of the places" isLabelHidden value={sort} onChange={onSort} options={SORTS} />
      </div>
      <Indexed query={found} what="the places">
        {({ lines, documents, documents_read, is_sampled, hits }) =>
          lines.length > 0 ? (
            <>
              <p className={styles.muted} role="status">
                {is_sampled
                  ? `${plural(hits, "place")} in ${formatCount(documents_read)} of ${plural(documents, "document")}, drawn at random.`
                  : `${plural(hits, "place")} in ${plural(documents, "document")}.`}
                {hits > lines.length && " Of one document three are shown."}
              </p>
              <Concordance
                label="Places"
                lines={lines.map((line) => ({
                  key: `${line.position} ${line.start}`,
                  left: line.left,
                  match: line.hit,
                  right: line.right,
                  domain: line.domain,
                  outcome: places === "all" ? line.outcome : undefined,
                  note:
                    line.outcome === "excluded" && line.decided_by
                      ? `first cause: ${describeStage(line.decided_by).label.toLowerCase()}`
                      : undefined,
                  href: `/documents/${asked.job}?at=${line.position}${profile}`,
                }))}
              />
            </>
          ) : (
            <p className={styles.muted} role="status">
              {places === "all" ? "No document mentions it." : `No ${places} document mentions it.`}
            </p>
          )
        }
      </Indexed>
    </section>
  );
}
