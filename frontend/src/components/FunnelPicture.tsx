import type { Funnel } from "@/api/jobs";
import { formatCount, formatShare, formatShortCount } from "@/words/numbers";
import { describeStage } from "@/words/terms";
import { Explained } from "./Explained";
import styles from "./funnel.module.css";

interface FunnelPictureProps {
  funnel: Funnel;
  unit?: "documents" | "tokens";
}

interface Row {
  key: string;
  label: string;
  meaning: string;
  left: number;
  gone: number;
  undecided: number;
  isTotal: boolean;
}

/** What is left after each stage, as bars that share one scale, with the numbers beside them. */
export function FunnelPicture({ funnel, unit = "documents" }: FunnelPictureProps) {
  const rows = layRows(funnel, unit);
  const whole = rows[0]?.left ?? 0;
  const hasUndecided = rows.some(({ undecided }) => undecided > 0);
  return (
    <div className={styles.funnel}>
      <ol className={styles.list} aria-label={`What is left after each stage, in ${unit}`}>
        <li className={`${styles.row} ${styles.head}`} aria-hidden>
          <span />
          <span />
          <span className={styles.number}>taken away</span>
          <span className={styles.number}>{unit} left</span>
        </li>
        {rows.map((row) => (
          <FunnelRow key={row.key} row={row} whole={whole} />
        ))}
      </ol>
      <div className={styles.legend} aria-hidden>
        <Key tone="left" label="left" />
        <Key tone="gone" label="taken away by this stage" />
        {hasUndecided && <Key tone="open" label="undecided: a measurement is missing" />}
      </div>
    </div>
  );
}

function FunnelRow({ row, whole }: { row: Row; whole: number }) {
  const share = (count: number) => (whole > 0 ? (100 * count) / whole : 0);
  return (
    <li className={styles.row}>
      <span className={row.isTotal ? styles.total : undefined}>
        <Explained meaning={row.meaning}>{row.label}</Explained>
      </span>
      <span className={styles.track} aria-hidden>
        <svg className={styles.bar} viewBox="0 0 100 1" preserveAspectRatio="none">
          <rect className={styles.left} width={share(row.left - row.undecided)} height="1" />
          <rect className={styles.open} x={share(row.left - row.undecided)} width={share(row.undecided)} height="1" />
          <rect className={styles.gone} x={share(row.left)} width={share(row.gone)} height="1" />
        </svg>
      </span>
      <span className={`${styles.number} ${styles.minor}`} title={formatCount(row.gone)}>
        {row.gone > 0 ? `−${formatShortCount(row.gone)}` : ""}
      </span>
      <span className={`${styles.number} ${row.isTotal ? styles.total : ""}`} title={formatCount(row.left)}>
        {formatShortCount(row.left)} <span className={styles.minor}>{formatShare(row.left, whole)}</span>
      </span>
    </li>
  );
}

function Key({ tone, label }: { tone: "left" | "gone" | "open"; label: string }) {
  return (
    <span className={styles.key}>
      <span className={`${styles.swatch} ${styles[tone]}`} />
      {label}
    </span>
  );
}

/** Every document first, what each stage leaves, and what is kept last. */
export function layRows(funnel: Funnel, unit: "documents" | "tokens"): Row[] {
  const counts = funnel[unit];
  const whole = counts.kept + counts.excluded + counts.undecided + counts.error;
  const rows: Row[] = [
    {
      key: "all",
      label: unit === "documents" ? "Documents measured" : "Tokens measured",
      meaning: "Everything that was measured so far.",
      left: whole,
      gone: 0,
      undecided: 0,
      isTotal: true,
    },
  ];
  if (counts.error > 0) {
    rows.push({
      key: "error",
      ...describeStage("error"),
      left: whole - counts.error,
      gone: counts.error,
      undecided: 0,
      isTotal: false,
    });
  }
  for (const step of funnel.cheap_first_order) {
    const [left, gone] = unit === "documents" ? [step.left, step.excluded] : [step.left_tokens, step.excluded_tokens];
    rows.push({ key: step.stage, ...describeStage(step.stage), left, gone, undecided: 0, isTotal: false });
  }
  rows.push({
    key: "kept",
    label: "Kept",
    meaning: "Passed every stage: what goes into the curriculum.",
    left: counts.kept,
    gone: 0,
    undecided: 0,
    isTotal: true,
  });
  if (counts.undecided > 0) {
    rows.push({
      key: "undecided",
      label: "Undecided",
      meaning: "A measurement that decides is missing: neither kept nor excluded.",
      left: counts.undecided,
      gone: 0,
      undecided: counts.undecided,
      isTotal: false,
    });
  }
  return rows;
}
