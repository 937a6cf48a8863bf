import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DecisionChoice } from "@/api/documents";
import { histogramQuery } from "@/api/what-if";
import { Button } from "@/components/Button";
import { Explained } from "@/components/Explained";
import { Loading } from "@/components/states";
import { plural } from "@/words/numbers";
import { describeSignal, formatSignal } from "@/words/signals";
import { describeStage } from "@/words/terms";
import { describeThreshold } from "@/words/thresholds";
import { describeCut, findStretch, snap, type Cut } from "./cuts";
import { HistogramChart } from "./HistogramChart";
import styles from "./thresholds.module.css";

const BINS = 56;

interface CutCardProps {
  jobId: number;
  /** What decides: the bars are coloured by it. */
  choice: DecisionChoice;
  cut: Cut;
  before: number | null;
  value: number;
  isStretched: boolean;
  onMove: (value: number) => void;
  onRest: (value: number) => void;
}

export function CutCard({ jobId, choice, cut, before, value, isStretched, onMove, onRest }: CutCardProps) {
  const { label, meaning, unit: threshold } = describeThreshold(cut.path);
  const { unit } = describeSignal(cut.column);
  const stage = describeStage(cut.stage).label;
  const [stretch, setStretch] = useState(() => findStretch(cut, before === null ? [value] : [before, value]));
  if (value > stretch.high || value < stretch.low) setStretch(findStretch(cut, [value, stretch.low]));
  const asked = { job: jobId, choice, column: cut.column, bins: BINS, ...stretch };
  const histogram = useQuery({ ...histogramQuery(asked), placeholderData: (previous) => previous });
  const sum = (counts: Record<string, number> | undefined) =>
    Object.values(counts ?? {}).reduce((all, one) => all + one, 0);
  const missing = sum(histogram.data?.missing);
  const beyond = sum(histogram.data?.below) + sum(histogram.data?.above);
  return (
    <section className={styles.card} aria-label={`${stage}: ${label}`}>
      <div className={styles.cardHead}>
        <div>
          <h3>
            <Explained meaning={meaning}>{label}</Explained>
          </h3>
          <p className={styles.muted}>
            {stage}, {threshold}
          </p>
        </div>
        <NumberField cut={cut} label={`${stage}: ${label}`} value={value} onRest={onRest} />
      </div>
      {histogram.data ? (
        <HistogramChart
          cut={cut}
          histogram={histogram.data}
          {...stretch}
          label={`${stage}: ${label}`}
          before={before}
          value={value}
          isStretched={isStretched}
          onMove={onMove}
          onRest={onRest}
        />
      ) : (
        <div className={styles.chart}>
          <Loading what="the values" />
        </div>
      )}
      <div className={styles.cardFoot}>
        <span className={styles.muted}>
          {describeCut(cut, formatSignal(unit, value))}
          {missing > 0 && ` · ${plural(missing, "document")} without a value`}
          {beyond > 0 && ` · ${plural(beyond, "document")} beyond the edges`}
        </span>
        {before !== null && before !== value && (
          <Button isSmall look="quiet" onPress={() => onRest(before)}>
            Back to {formatSignal(unit, before)}
          </Button>
        )}
      </div>
    </section>
  );
}

interface NumberFieldProps {
  cut: Cut;
  label: string;
  value: number;
  onRest: (value: number) => void;
}

/** The exact number. What is written counts once the field is left, or Return is pressed. */
function NumberField({ cut, label, value, onRest }: NumberFieldProps) {
  const [text, setText] = useState<string>();

  function finish() {
    const number = Number((text ?? "").replace(",", "."));
    if (text?.trim() && Number.isFinite(number))
      onRest(snap({ ...cut, step: Math.min(cut.step, cut.step === 1 ? 1 : 0.001) }, number));
    setText(undefined);
  }

  return (
    <input
      className={styles.number}
      type="text"
      inputMode="decimal"
      aria-label={`${label}, as a number`}
      value={text ?? String(value)}
      onChange={(event) => setText(event.target.value)}
      onBlur={finish}
      onKeyDown={(event) => event.key === "Enter" && finish()}
    />
  );
}
