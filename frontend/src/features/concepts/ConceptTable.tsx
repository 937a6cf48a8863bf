import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useId, useImperativeHandle, useRef, type KeyboardEvent, type Ref } from "react";
import type { MentionCounts } from "@/api/concepts";
import { ExplainedButton } from "@/components/Explained";
import { describeGrades, describeSubject, formatInterval, formatLeakShare, NO_STANDARD } from "@/words/concepts";
import { formatCount, formatShare, plural } from "@/words/numbers";
import { describeStage } from "@/words/terms";
import type { View } from "./address";
import styles from "./concepts.module.css";
import { findMainCause, type Column, type Row } from "./rows";

const ROW_PIXELS = 54;

const COLUMNS: readonly { id: Column; label: string; meaning: string }[] = [
  { id: "name", label: "Concept", meaning: "What is taught after grade 5, with its subject, grades and standard." },
  { id: "documents", label: "Documents", meaning: "Documents of the job that mention it at least once." },
  {
    id: "excluded",
    label: "Excluded",
    meaning: "Of these, how many are excluded, and the stage that excludes most of them.",
  },
  {
    id: "kept",
    label: "In kept text",
    meaning:
      "Kept documents that mention it, and their share of all kept documents with the interval in which the share of others made the same way lies with 95 % certainty.",
  },
];

export interface TableHandle {
  /** To the next row, or the one before. */
  move: (step: 1 | -1) => void;
  focus: () => void;
}

interface ConceptTableProps {
  label: string;
  rows: readonly Row[];
  sort: View["sort"];
  onSort: (sort: View["sort"]) => void;
  /** The id of the row that is read. */
  selected: string | null;
  onSelect: (id: string) => void;
  onOpen: () => void;
  /** Whether a concept is part of the edit that is being made. */
  isEdited: (id: string) => boolean;
  /** The rows are groups of concepts. */
  isGrouped: boolean;
  handle: Ref<TableHandle>;
}

/** Concepts or groups of them, one row each; only those in sight are in the page. One tab stop: keys go from row to row. */
export function ConceptTable(props: ConceptTableProps) {
  "use no memo"; // the virtualizer changes without its identity doing so
  const { label, rows, sort, onSort, selected, onSelect, onOpen, isEdited, isGrouped, handle } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const prefix = useId();
  // eslint-disable-next-line react-hooks/incompatible-library -- see above
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const place = rows.findIndex(({ id }) => id === selected);
  const isInSight = items.some(({ index }) => index === place);

  function goTo(index: number) {
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!next) return;
    virtualizer.scrollToIndex(rows.indexOf(next));
    onSelect(next.id);
  }

  useImperativeHandle(handle, () => ({
    move: (step) => goTo(place + step),
    focus: () => scroller.current?.focus(),
  }));

  function note(event: KeyboardEvent) {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PIXELS) - 1);
    const steps: Record<string, number> = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: rows.length - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      goTo(next);
    } else if (event.key === "Enter") {
      event.preventDefault();
      onOpen();
    }
  }

  return (
    <div className={styles.table}>
      <div className={styles.heads} role="group" aria-label="Order">
        {COLUMNS.map(({ id, label: heading, meaning }) => {
          const isSorted = sort.column === id;
          const Arrow = sort.isDescending ? ArrowDown : ArrowUp;
          return (
            <ExplainedButton
              key={id}
              meaning={meaning}
              className={styles.head}
              isPressed={isSorted}
              onPress={() => onSort({ column: id, isDescending: isSorted ? !sort.isDescending : id !== "name" })}
            >
              {id === "name" && isGrouped ? "Group" : heading}
              {isSorted && <Arrow size={14} aria-label={sort.isDescending ? ", greatest first" : ", least first"} />}
            </ExplainedButton>
          );
        })}
      </div>
      <div
        ref={scroller}
        className={styles.rows}
        role="grid"
        aria-label={label}
        aria-rowcount={rows.length}
        aria-activedescendant={place >= 0 && isInSight ? `${prefix}${place}` : undefined}
        tabIndex={0}
        onKeyDown={note}
      >
        <div className={styles.whole} role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- its grid takes the keys
              <div
                key={row.id}
                id={`${prefix}${index}`}
                role="row"
                aria-rowindex={index + 1}
                aria-selected={index === place}
                className={styles.row}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => onSelect(row.id)}
              >
                <NameCell row={row} isEdited={isEdited(row.id)} />
                <CountCells counts={row.counts} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function NameCell({ row, isEdited }: { row: Row; isEdited: boolean }) {
  const { name, concept } = row;
  const facts = concept
    ? [concept.standard ?? NO_STANDARD, describeSubject(concept.subject), describeGrades(concept.band).label]
    : [];
  return (
    <div role="gridcell" className={styles.name} title={[name, ...facts].join(" · ")}>
      <div className={styles.first}>
        <bdi>{name}</bdi>
        {isEdited && <span className={styles.edited}>in your edit</span>}
      </div>
      {facts.length > 0 && <div className={styles.second}>{facts.join(" · ")}</div>}
    </div>
  );
}

function CountCells({ counts }: { counts: MentionCounts | null }) {
  if (counts === null) {
    return (
      <div role="gridcell" className={styles.unmeasured} title="It was not looked for in this job's documents yet.">
        not measured yet
      </div>
    );
  }
  const { documents, hits, excluded, kept, kept_share, kept_interval } = counts;
  const main = findMainCause(counts);
  return (
    <>
      <div
        role="gridcell"
        className={styles.number}
        title={`${plural(hits, "place")} in ${plural(documents, "document")}`}
      >
        {formatCount(documents)}
      </div>
      <div
        role="gridcell"
        className={styles.number}
        title={`${plural(excluded, "excluded document")}, ${formatShare(excluded, documents)} of those that mention it`}
      >
        {formatCount(excluded)}
        {main && (
          <div
            className={`${styles.second} ${styles.cause}`}
            title={`${plural(main[1], "document is", "documents are")} excluded by this stage`}
          >
            {describeStage(main[0]).label.toLowerCase()}
          </div>
        )}
      </div>
      <div
        role="gridcell"
        className={styles.number}
        title={`${plural(kept, "kept document")}, ${formatLeakShare(kept_share)} of all`}
      >
        {formatCount(kept)}
        {kept > 0 && (
          <>
            {" "}
            <span className={styles.percent}>{formatLeakShare(kept_share)}</span>
            <div className={styles.second}>{formatInterval(kept_interval)}</div>
          </>
        )}
      </div>
    </>
  );
}
