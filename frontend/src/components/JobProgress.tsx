import { ProgressBar } from "react-aria-components/ProgressBar";
import type { JobView } from "@/api/jobs";
import { formatCount, formatDuration, formatRate, formatShare } from "@/words/numbers";
import styles from "./progress.module.css";

interface JobProgressProps {
  job: JobView & { is_total_known?: boolean; seconds_left?: number | null; documents_per_second?: number | null };
}

/** How far a job is, how fast, and how long it still takes where that can be said. */
export function JobProgress({ job }: JobProgressProps) {
  const { documents_done: done, documents_total: total } = job;
  const isKnown = total > 0 && job.is_total_known !== false;
  const share = total > 0 ? Math.min(100, (100 * done) / total) : 0;
  return (
    <ProgressBar
      className={styles.progress}
      aria-label={`Progress of job ${job.id}`}
      value={share}
      isIndeterminate={total === 0}
      valueLabel={isKnown ? `${formatCount(done)} of ${formatCount(total)} documents` : "still counting"}
    >
      <div className={styles.line}>
        <span>
          {total === 0
            ? "Looking at the files…"
            : `${formatCount(done)} of ${formatCount(total)}${isKnown ? "" : " or more"} documents`}
          {isKnown && <span className={styles.muted}> · {formatShare(done, total)}</span>}
        </span>
        <span className={styles.muted}>
          {job.documents_per_second ? formatRate(job.documents_per_second) : ""}
          {typeof job.seconds_left === "number" ? ` · ${describeLeft(job.seconds_left)}` : ""}
        </span>
      </div>
      <div className={styles.track}>
        <svg className={styles.bar} viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden>
          <rect width={share} height="1" />
        </svg>
      </div>
    </ProgressBar>
  );
}

function describeLeft(seconds: number): string {
  return seconds < 1 ? "nearly done" : `about ${formatDuration(seconds)} left`;
}
