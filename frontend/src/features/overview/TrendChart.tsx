import "uplot/dist/uPlot.min.css";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { readFunnel, type JobDetail } from "@/api/jobs";
import { useStore } from "@/api/store";
import { formatShare } from "@/words/numbers";
import { chartTheme } from "@/components/chart-theme";
import styles from "./trend.module.css";

const HEIGHT = 130;

/** The share of documents that each job kept, the oldest left. The table below it has the numbers. */
export default function TrendChart({ runs }: { runs: readonly JobDetail[] }) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useStore(chartTheme);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const oldestFirst = [...runs].reverse();
    const shares = oldestFirst.map((job) => {
      const kept = readFunnel(job)?.documents.kept ?? 0;
      return job.documents_done > 0 ? (100 * kept) / job.documents_done : null;
    });
    const axis = {
      stroke: theme.muted,
      grid: { stroke: theme.line, width: 1 },
      ticks: { show: false },
      font: theme.font,
    };
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, range: [-0.5, Math.max(1, oldestFirst.length) - 0.5] }, y: { range: [0, 100] } },
        axes: [
          {
            ...axis,
            size: 26,
            grid: { show: false },
            splits: () => oldestFirst.map((_, index) => index),
            values: (_, splits) => splits.map((index) => `job ${oldestFirst[index]?.id ?? ""}`),
          },
          {
            ...axis,
            size: 46,
            splits: () => [0, 25, 50, 75, 100],
            values: (_, splits) => splits.map((share) => `${share} %`),
          },
        ],
        series: [{}, { stroke: theme.accent, width: 2, points: { show: true, size: 7, fill: theme.accent } }],
      },
      [oldestFirst.map((_, index) => index), shares],
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [runs, theme]);
  const summary = runs
    .map((job) => `job ${job.id} ${formatShare(readFunnel(job)?.documents.kept ?? 0, job.documents_done)}`)
    .join(", ");
  return (
    <div className={styles.trend}>
      <p className={styles.title}>Documents kept, in per cent, from job to job</p>
      <div ref={place} className={styles.chart} role="img" aria-label={`Documents kept: ${summary}`} />
    </div>
  );
}
