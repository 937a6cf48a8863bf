import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { createPortal } from "react-dom";
import UPlot from "uplot";
import { useStore } from "@/api/store";
import type { Histogram } from "@/api/what-if";
import { chartTheme } from "@/components/chart-theme";
import { describeSignal, formatSignal } from "@/words/signals";
import { describeCut, placeLine, snap, type Cut } from "./cuts";
import styles from "./thresholds.module.css";

const HEIGHT = 150;
const LEAP = 10;

interface HistogramChartProps {
  cut: Cut;
  histogram: Histogram;
  low: number;
  high: number;
  label: string;
  /** Where the threshold is before anything is moved. */
  before: number | null;
  value: number;
  isStretched: boolean;
  onMove: (value: number) => void;
  /** It came to rest. */
  onRest: (value: number) => void;
}

/** A signal's values, kept, excluded and undecided stacked, with the cut as a line that pointers and keys move. */
export function HistogramChart(props: HistogramChartProps) {
  const { cut, histogram, low, high, isStretched, label } = props;
  const isShare = describeSignal(cut.column).unit === "share";
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(undefined);
  const [area, setArea] = useState<HTMLElement>();
  const theme = useStore(chartTheme);

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const axis = { stroke: theme.muted, grid: { show: false }, ticks: { show: false }, font: theme.font };
    const bars = UPlot.paths.bars?.({ size: [0.94], align: 0 });
    const series = (fill: string) => ({ fill, width: 0, paths: bars, points: { show: false } });
    const made = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: [low, high] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
        },
        axes: [
          {
            ...axis,
            size: 26,
            values: (_, splits) =>
              splits.map((value) => (isShare ? `${Number((100 * value).toFixed(1))} %` : String(value))),
          },
          { show: false },
        ],
        // The whole is drawn first and the parts over it: each is the sum of those below.
        series: [{}, series(theme.undecided), series(theme.excluded), series(theme.kept)],
      },
      [[], [], [], []],
      element,
    );
    chart.current = made;
    setArea(made.over);
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      setArea(undefined);
      made.destroy();
    };
  }, [theme, low, high, isShare]);

  useEffect(() => {
    chart.current?.setData(stack(histogram, isStretched));
  }, [histogram, isStretched, theme, low, high]);

  return (
    <div ref={place} className={styles.chart} role="group" aria-label={label}>
      {area && createPortal(<CutLine {...props} area={area} />, area)}
    </div>
  );
}

function stack({ edges, counts }: Histogram, isStretched: boolean): UPlot.AlignedData {
  const centres = edges.slice(1).map((edge, place) => (edge + (edges[place] ?? edge)) / 2);
  const of = (outcome: string, place: number) => counts[outcome]?.[place] ?? 0;
  const rows = centres.map((_, place) => {
    const kept = of("kept", place);
    const decided = kept + of("excluded", place);
    const all = decided + of("undecided", place);
    // Stretched, a bar's height is the root of its count; its parts keep their shares.
    const scale = isStretched && all > 0 ? Math.sqrt(all) / all : 1;
    return [all * scale, decided * scale, kept * scale] as const;
  });
  return [centres, rows.map(([all]) => all), rows.map(([, decided]) => decided), rows.map(([, , kept]) => kept)];
}

function CutLine({
  cut,
  low,
  high,
  label,
  before,
  value,
  onMove,
  onRest,
  area,
}: HistogramChartProps & { area: HTMLElement }) {
  const [isDragged, setIsDragged] = useState(false);
  const { unit } = describeSignal(cut.column);
  const percent = (at: number) => `${Math.max(0, Math.min(100, (100 * (placeLine(cut, at) - low)) / (high - low)))}%`;

  function valueAt(event: PointerEvent): number {
    const { left, width } = area.getBoundingClientRect();
    const at = low + ((event.clientX - left) / width) * (high - low);
    return snap(cut, Math.max(low, Math.min(high, at)) - placeLine(cut, 0));
  }

  function note(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowRight: value + cut.step,
      ArrowUp: value + cut.step,
      ArrowLeft: value - cut.step,
      ArrowDown: value - cut.step,
      PageUp: value + LEAP * cut.step,
      PageDown: value - LEAP * cut.step,
      Home: low,
      End: high,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onRest(snap(cut, next));
  }

  return (
    <>
      {before !== null && before !== value && <div className={styles.before} style={{ left: percent(before) }} />}
      <div
        className={styles.cut}
        style={{ left: percent(value) }}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-orientation="horizontal"
        aria-valuemin={low}
        aria-valuemax={high}
        aria-valuenow={value}
        aria-valuetext={describeCut(cut, formatSignal(unit, value))}
        data-dragged={isDragged || undefined}
        onKeyDown={note}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setIsDragged(true);
        }}
        onPointerMove={(event) => isDragged && onMove(valueAt(event))}
        onPointerUp={(event) => {
          if (!isDragged) return;
          setIsDragged(false);
          onRest(valueAt(event));
        }}
        onPointerCancel={() => {
          setIsDragged(false);
          onRest(value);
        }}
      >
        <span className={styles.grip} aria-hidden />
      </div>
    </>
  );
}
