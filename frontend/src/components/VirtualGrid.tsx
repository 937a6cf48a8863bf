import { useVirtualizer } from "@tanstack/react-virtual";
import {
  useEffect,
  useId,
  useImperativeHandle,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
} from "react";
import type { CursorPages, Sight } from "@/api/cursor-pages";
import styles from "./grid.module.css";

const ROW_PIXELS = 54;
const HEAD_PIXELS = 38;
export const FIRST_SIGHT: Sight = { first: 0, last: 30 };

export interface GridHandle {
  /** To the next row, or the one before. */
  move: (step: 1 | -1) => void;
  focus: () => void;
}

interface VirtualGridProps<Row> {
  label: string;
  pages: CursorPages<Row>;
  onSight: (sight: Sight) => void;
  keyOf: (row: Row) => string | number;
  /** The row that is looked at, by its key. */
  selected: string | number | null;
  onSelect: (row: Row) => void;
  onOpen?: () => void;
  /** Column headings, which stay in sight. */
  head?: ReactNode;
  rowLook?: string;
  /** The cells of a row. */
  children: (row: Row) => ReactNode;
  handle?: Ref<GridHandle>;
}

/** Rows of a long list; only those in sight are in the page. One tab stop: keys go from row to row. */
export function VirtualGrid<Row>(props: VirtualGridProps<Row>) {
  "use no memo"; // the virtualizer changes without its identity doing so
  const { label, pages, onSight, keyOf, selected, onSelect, onOpen, head, rowLook, children, handle } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const [place, setPlace] = useState(-1);
  // An object of its own for every step, so that each selects once.
  const [wanted, setWanted] = useState<{ index: number }>();
  const answered = useRef<{ index: number }>(undefined);
  const headPixels = head ? HEAD_PIXELS : 0;
  // eslint-disable-next-line react-hooks/incompatible-library -- see above
  const virtualizer = useVirtualizer({
    count: pages.reach,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
    paddingStart: headPixels,
    scrollPaddingStart: headPixels,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? FIRST_SIGHT.last;
  useEffect(() => onSight({ first, last }), [first, last, onSight]);

  // Where the selected row stands, as far as it is in sight.
  const isSelected = (row: Row | undefined) => row !== undefined && keyOf(row) === selected;
  const seen = items.find(({ index }) => isSelected(pages.rowAt(index)))?.index;
  const current = isSelected(pages.rowAt(place)) ? place : (seen ?? -1);
  if (current >= 0 && current !== place) setPlace(current);

  const awaited = wanted === undefined ? undefined : pages.rowAt(wanted.index);
  useEffect(() => {
    if (awaited === undefined || answered.current === wanted) return;
    answered.current = wanted;
    onSelect(awaited);
  }, [awaited, wanted, onSelect]);

  function goTo(index: number) {
    const next = Math.max(0, Math.min(pages.reach - 1, index));
    if (pages.reach === 0) return;
    virtualizer.scrollToIndex(next);
    setPlace(next);
    setWanted({ index: next });
  }

  useImperativeHandle(handle, () => ({
    move: (step) => goTo(place + step),
    focus: () => scroller.current?.focus(),
  }));

  function note(event: KeyboardEvent) {
    if (event.target !== event.currentTarget) return;
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

  const rowsBefore = head ? 2 : 1;
  return (
    <div
      ref={scroller}
      className={styles.grid}
      role="grid"
      aria-label={label}
      aria-rowcount={pages.total === undefined ? -1 : pages.total + rowsBefore - 1}
      aria-activedescendant={current >= 0 && seen !== undefined ? `${prefix}${current}` : undefined}
      tabIndex={0}
      onKeyDown={note}
    >
      {head && (
        <div role="rowgroup" className={styles.head} style={{ height: HEAD_PIXELS, marginBottom: -HEAD_PIXELS }}>
          <div role="row" aria-rowindex={1} className={`${styles.headRow} ${rowLook ?? ""}`}>
            {head}
          </div>
        </div>
      )}
      <div className={styles.whole} role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = pages.rowAt(index);
          return (
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- its grid takes the keys
            <div
              key={index}
              id={`${prefix}${index}`}
              role="row"
              aria-rowindex={index + rowsBefore}
              aria-selected={isSelected(row)}
              className={`${styles.row} ${rowLook ?? ""}`}
              style={{ transform: `translateY(${start}px)` }}
              onClick={() => {
                setPlace(index);
                setWanted(undefined);
                if (row) onSelect(row);
              }}
            >
              {row ? children(row) : <div role="gridcell" className={styles.pending} />}
            </div>
          );
        })}
      </div>
    </div>
  );
}
