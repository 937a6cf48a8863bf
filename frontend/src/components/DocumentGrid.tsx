import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useImperativeHandle, useRef, useState, type KeyboardEvent, type Ref } from "react";
import type { CursorPages, Sight } from "@/api/cursor-pages";
import type { DocumentRow } from "@/api/documents";
import { formatCount } from "@/words/numbers";
import { outcomeOf, OUTCOMES } from "@/words/outcomes";
import { describeSignal, formatSignal } from "@/words/signals";
import { describeStage } from "@/words/terms";

import styles from "./grid.module.css";

const ROW_PIXELS = 54;
export const FIRST_SIGHT: Sight = { first: 0, last: 30 };

export interface GridHandle {
  /** To the next document, or the one before. */
  move: (step: 1 | -1) => void;
  focus: () => void;
}

interface DocumentGridProps {
  label: string;
  pages: CursorPages<DocumentRow>;
  onSight: (sight: Sight) => void;
  /** The document that is read, by its position in the run. */
  selected: number | null;
  onSelect: (position: number) => void;
  onOpen?: () => void;
  /** A number shown beside each document, where it is not its length. */
  column?: string;
  handle?: Ref<GridHandle>;
}

/** Documents, one row each; only those in sight are in the page. One tab stop: keys go from row to row. */
export function DocumentGrid(props: DocumentGridProps) {
  "use no memo"; // the virtualizer changes without its identity doing so
  const { label, pages, onSight, selected, onSelect, onOpen, column, handle } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const [place, setPlace] = useState(-1);
  const [wanted, setWanted] = useState<number>();
  // eslint-disable-next-line react-hooks/incompatible-library -- see above
  const virtualizer = useVirtualizer({
    count: pages.reach,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? FIRST_SIGHT.last;
  useEffect(() => onSight({ first, last }), [first, last, onSight]);

  // Where the selected document stands, as far as its row is in sight.
  const seen = items.find(({ index }) => pages.rowAt(index)?.position === selected)?.index;
  const current = pages.rowAt(place)?.position === selected ? place : (seen ?? -1);
  if (current >= 0 && current !== place) setPlace(current);

  const awaited = wanted === undefined ? undefined : pages.rowAt(wanted);
  useEffect(() => {
    if (awaited === undefined) return;
    onSelect(awaited.position);
  }, [awaited, onSelect]);

  function goTo(index: number) {
    const next = Math.max(0, Math.min(pages.reach - 1, index));
    if (pages.reach === 0) return;
    virtualizer.scrollToIndex(next);
    setPlace(next);
    setWanted(next);
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
      End: pages.reach - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      goTo(next);
    } else if (event.key === "Enter" && onOpen) {
      event.preventDefault();
      onOpen();
    }
  }

  return (
    <div
      ref={scroller}
      className={styles.grid}
      role="grid"
      aria-label={label}
      aria-rowcount={pages.total ?? -1}
      aria-activedescendant={current >= 0 && seen !== undefined ? `${prefix}${current}` : undefined}
      tabIndex={0}
      onKeyDown={note}
    >
      <div className={styles.whole} role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = pages.rowAt(index);
          return (
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- its grid takes the keys
            <div
              key={index}
              id={`${prefix}${index}`}
              role="row"
              aria-rowindex={index + 1}
              aria-selected={row !== undefined && row.position === selected}
              className={styles.row}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => {
                setPlace(index);
                setWanted(undefined);
                if (row) onSelect(row.position);
              }}
            >
              {row ? <RowCells row={row} column={column} /> : <div role="gridcell" className={styles.pending} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function RowCells({ row, column }: { row: DocumentRow; column: string | undefined }) {
  const outcome = outcomeOf(row);
  const value = column === undefined ? undefined : row.values[column];
  const unit = column === undefined ? "tokens" : describeSignal(column).unit;
  return (
    <>
      <div role="gridcell" className={styles.outcome}>
        <span className={`${styles.dot} ${styles[outcome] ?? ""}`} title={OUTCOMES[outcome].label}>
          <span className={styles.spoken}>{OUTCOMES[outcome].label}</span>
        </span>
      </div>
      <div role="gridcell" className={styles.what}>
        <bdi className={styles.name} title={row.url ?? undefined}>
          {nameRow(row)}
        </bdi>
        <span className={styles.under}>
          <span className={styles.cause}>{describeCause(row)}</span>
          <span className={styles.number}>{formatCount(row.tokens)} tokens</span>
        </span>
      </div>
      {value !== undefined && (
        <div role="gridcell" className={styles.number}>
          {value === null ? "–" : formatSignal(unit, value)}
        </div>
      )}
    </>
  );
}

/** What people know a document by: its address without what all have, else its id, else its place. */
export function nameRow({ url, doc_id, shard, row }: Pick<DocumentRow, "url" | "doc_id" | "shard" | "row">): string {
  return url?.replace(/^https?:\/\/(www\.)?/, "") || doc_id || `${shard}, row ${row + 1}`;
}

function describeCause({ kept, decided_by, excluded_by, undecided_for }: DocumentRow): string {
  const name = (stage: string) => describeStage(stage).label;
  if (decided_by === "override") return kept ? "Kept by a person" : "Ruled out by a person";
  if (kept === true) return "Passes every stage";
  if (kept === null) return `Not measured: ${undecided_for.map(name).join(", ").toLowerCase()}`;
  const [first = decided_by ?? "", ...others] = excluded_by;
  return others.length > 0 ? `${name(first)} and ${others.length} more` : name(first);
}
