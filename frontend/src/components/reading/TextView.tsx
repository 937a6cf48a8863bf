import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useImperativeHandle, useMemo, useRef, useState, type Ref } from "react";
import { cutBlocks, findBlock } from "./blocks";
import { chooseShade, describeSpan } from "./evidence";
import { PlainText } from "./PlainText";
import styles from "./reading.module.css";
import { cutSegments, slicePieces, type Segment, type Span } from "./segments";
import { Tip, type TipPlace } from "./Tip";

const LINE_UNITS = 75;
const LINE_PIXELS = 26;
const FLASH_MS = 1_600;

export interface TextHandle {
  /** Brings a place of evidence into sight. */
  show: (span: Span) => void;
}

interface TextViewProps {
  text: string;
  /** What is marked: the evidence that is switched on. */
  spans: readonly Span[];
  label: string;
  handle?: Ref<TextHandle>;
}

/** A document's text, as text and nothing else. Only the blocks in sight are in the page. */
export function TextView({ text, spans, label, handle }: TextViewProps) {
  "use no memo"; // the virtualizer changes without its identity doing so
  const scroller = useRef<HTMLDivElement>(null);
  const [tip, setTip] = useState<TipPlace>();
  const [flashed, setFlashed] = useState<number>();
  const cuts = useMemo(() => cutBlocks(text), [text]);
  const segments = useMemo(() => cutSegments(spans), [spans]);
  // eslint-disable-next-line react-hooks/incompatible-library -- see above
  const virtualizer = useVirtualizer({
    count: cuts.length - 1,
    getScrollElement: () => scroller.current,
    estimateSize: (place) => estimateHeight(text.slice(cuts[place], cuts[place + 1])),
    overscan: 2,
  });

  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
    virtualizer.measure();
  }, [text, virtualizer]);

  useImperativeHandle(handle, () => ({
    show: (span) => {
      virtualizer.scrollToIndex(findBlock(cuts, span.start), { align: "start" });
      setFlashed(span.id);
      setTimeout(() => setFlashed((now) => (now === span.id ? undefined : now)), FLASH_MS);
      const settle = (rounds: number) => {
        const mark = scroller.current?.querySelector(`[data-spans~="${span.id}"]`);
        if (mark) mark.scrollIntoView({ block: "center" });
        else if (rounds > 0) requestAnimationFrame(() => settle(rounds - 1));
      };
      requestAnimationFrame(() => settle(10));
    },
  }));

  function point(event: { target: EventTarget }) {
    const mark = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-spans]") : null;
    if (!mark) {
      setTip(undefined);
      return;
    }
    const ids = new Set((mark.dataset.spans ?? "").split(" ").map(Number));
    const lines = spans.filter(({ id }) => ids.has(id)).map(describeSpan);
    const { left, bottom, top } = mark.getBoundingClientRect();
    setTip({ left, top, bottom, lines: [...new Set(lines)] });
  }

  return (
    <>
      {/* eslint-disable jsx-a11y/no-noninteractive-tabindex -- long texts are scrolled by keys as well */}
      {/* eslint-disable jsx-a11y/mouse-events-have-key-events -- the list of evidence says the same to keys */}
      <div
        ref={scroller}
        className={styles.scroller}
        tabIndex={0}
        role="region"
        aria-label={label}
        onMouseOver={point}
        onMouseLeave={() => setTip(undefined)}
        onScroll={() => setTip(undefined)}
      >
        <div className={styles.whole} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => (
            <div
              key={index}
              ref={virtualizer.measureElement}
              data-index={index}
              dir="auto"
              className={styles.block}
              style={{ transform: `translateY(${start}px)` }}
            >
              {slicePieces(segments, cuts[index] ?? 0, cuts[index + 1] ?? 0).map((piece) => (
                <Piece key={piece.start} piece={piece} text={text} flashed={flashed} />
              ))}
            </div>
          ))}
        </div>
      </div>
      {/* eslint-enable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/mouse-events-have-key-events */}
      {tip && <Tip place={tip} />}
    </>
  );
}

function Piece({ piece, text, flashed }: { piece: Segment; text: string; flashed: number | undefined }) {
  const content = <PlainText text={text.slice(piece.start, piece.end)} />;
  if (piece.spans.length === 0) return content;
  const ids = piece.spans.map(({ id }) => id);
  const kinds = [...new Set(piece.spans.map(({ kind }) => styles[kind] ?? ""))];
  const age = Math.max(...piece.spans.map(({ kind, value }) => (kind === "hard_word" ? chooseShade(value) : 0)));
  return (
    <mark
      className={[styles.mark, ...kinds, flashed !== undefined && ids.includes(flashed) ? styles.flashed : ""].join(
        " ",
      )}
      data-spans={ids.join(" ")}
      data-shade={age || undefined}
    >
      {content}
    </mark>
  );
}

function estimateHeight(block: string): number {
  const lines = block.replace(/\n$/, "").split("\n");
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_UNITS)), 0) * LINE_PIXELS;
}
