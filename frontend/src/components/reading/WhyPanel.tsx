import { BookType, ChevronRight } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Distance, Explanation, StageView } from "@/api/documents";
import { Explained } from "@/components/Explained";
import { BANDS, describeDistance, describeRule, formatSignal, type Unit } from "@/words/signals";
import { describeStage } from "@/words/terms";
import { findNearest, layBar } from "./bars";
import { describeSpan } from "./evidence";
import styles from "./reading.module.css";
import type { Span } from "./segments";

const VERDICTS: Record<string, { label: string; tone: string }> = {
  pass: { label: "passes", tone: "good" },
  fail: { label: "fails", tone: "bad" },
  unknown: { label: "not measured", tone: "warning" },
};
const COUNTABLE = new Set<Unit>(["words", "places"]);
const MOST_NAMES = 12;

interface WhyPanelProps {
  explanation: Explanation;
  distances: readonly Distance[];
  spans: readonly Span[];
  wordAddress?: (word: string) => string;
  onShow: (span: Span) => void;
}

/** Each stage: what was measured, what was asked, and how far the one is from the other. */
export function WhyPanel({ explanation, distances, spans, wordAddress, onShow }: WhyPanelProps) {
  return (
    <ul className={styles.stages} aria-label="Why, stage by stage">
      {explanation.stages.map((stage) => (
        <Stage
          key={stage.stage}
          stage={stage}
          distances={distances.filter((distance) => distance.stage === stage.stage)}
          spans={spans.filter((span) => span.stage === stage.stage)}
          wordAddress={wordAddress}
          onShow={onShow}
        />
      ))}
    </ul>
  );
}

interface StageProps {
  stage: StageView;
  distances: readonly Distance[];
  spans: readonly Span[];
  wordAddress?: (word: string) => string;
  onShow: (span: Span) => void;
}

/** A stage that passes is one line, until it is opened. */
function Stage({ stage, distances, spans, wordAddress, onShow }: StageProps) {
  const [isOpen, setIsOpen] = useState(stage.verdict !== "pass");
  const { label, meaning } = describeStage(stage.stage);
  const verdict = VERDICTS[stage.verdict] ?? { label: stage.verdict, tone: "warning" };
  const nearest = findNearest(distances);
  return (
    <li className={styles.stage}>
      <button
        type="button"
        className={styles.stageHead}
        aria-expanded={isOpen}
        title={meaning}
        onClick={() => setIsOpen(!isOpen)}
      >
        <ChevronRight size={15} aria-hidden className={styles.chevron} />
        <span className={styles.stageName}>{label}</span>
        {nearest && <DistanceBar distance={nearest} />}
        <span className={styles[verdict.tone]}>{verdict.label}</span>
      </button>
      {isOpen && (
        <div className={styles.stageBody}>
          <div className={styles.distances}>
            {distances.map((distance) => (
              <DistanceRow key={distance.name} distance={distance} />
            ))}
          </div>
          <Grades values={stage.values} />
          <Names spans={spans} wordAddress={wordAddress} onShow={onShow} />
        </div>
      )}
    </li>
  );
}

function DistanceBar({ distance }: { distance: Distance }) {
  const { unit } = describeDistance(distance);
  const bar = layBar(distance, unit);
  const isPassing = distance.margin !== null && distance.margin >= 0;
  return (
    <svg className={styles.bar} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden>
      <rect className={styles.track} width="100" y="2" height="6" />
      {bar && <rect className={isPassing ? styles.passing : styles.failing} width={bar.value} y="2" height="6" />}
      {bar && <line className={styles.threshold} x1={bar.threshold} x2={bar.threshold} y2="10" />}
    </svg>
  );
}

function DistanceRow({ distance }: { distance: Distance }) {
  const { label, meaning, unit, isMaximum } = describeDistance(distance);
  const { value, threshold, margin } = distance;
  return (
    <>
      <span>
        <Explained meaning={meaning}>{label}</Explained>
      </span>
      <span className={styles.measured}>{value === null ? "not measured" : formatSignal(unit, value)}</span>
      <DistanceBar distance={distance} />
      <span className={styles.asked}>
        {isMaximum ? "at most" : "at least"} {formatSignal(unit, threshold)}
        {margin !== null && (
          <span className={margin >= 0 ? styles.good : styles.bad}>
            {", "}
            {describeMargin(margin, isMaximum, unit, formatSignal(unit, Math.abs(margin)))}
          </span>
        )}
      </span>
    </>
  );
}

function describeMargin(margin: number, isMaximum: boolean, unit: Unit, distance: string): string {
  if (margin === 0) return "exactly there";
  if (margin > 0) return `${distance} ${isMaximum ? "to spare" : "above"}`;
  if (!isMaximum) return `${distance} too little`;
  return `${distance} too ${COUNTABLE.has(unit) ? "many" : "much"}`;
}

const BAND_ORDER = ["K5", "K8", "K12", "OOS"] as const;
const GRADE_READINGS: Record<string, string> = {
  document: "whole text",
  window: "hardest passage",
  published: "as published",
};

/** How a grader spreads its belief over the grades, for each text that it read. */
function Grades({ values }: { values: Record<string, unknown> }) {
  const read = Object.entries(GRADE_READINGS).flatMap(([reading, label]) => {
    const grades = values[reading];
    return Array.isArray(grades) && grades.length === 4 ? [{ label, grades: grades as (number | null)[] }] : [];
  });
  // The same belief three times, of a text that is one passage, is said once.
  const told = read.filter(
    ({ grades }, place) => read.findIndex((other) => other.grades.every((grade, i) => grade === grades[i])) === place,
  );
  return told.map(({ label, grades }) => (
    <div key={label} className={styles.grades}>
      {told.length > 1 && <span className={styles.muted}>{label}</span>}
      {BAND_ORDER.map((band, place) => (
        <Explained key={band} meaning={`${BANDS[band].meaning} How likely the grader finds these grades.`}>
          {BANDS[band].label} {formatPercent(grades[place])}
        </Explained>
      ))}
    </div>
  ));
}

function formatPercent(chance: number | null | undefined): string {
  return typeof chance === "number" ? `${(100 * chance).toFixed(chance < 0.1 ? 1 : 0)} %` : "–";
}

type NamesProps = Pick<StageProps, "spans" | "wordAddress" | "onShow">;

/** The evidence by name; each leads to its first place in the text, and a word beyond grade 5 to its own page. */
function Names({ spans, wordAddress, onShow }: NamesProps) {
  const counted = new Map<string, { span: Span; count: number }>();
  for (const span of spans) {
    const key = `${span.kind} ${span.name}`;
    const found = counted.get(key);
    if (found) found.count += 1;
    else counted.set(key, { span, count: 1 });
  }
  const names = [...counted.values()].sort((a, b) => (b.span.value ?? 0) - (a.span.value ?? 0));
  if (names.length === 0) return null;
  return (
    <div className={styles.names}>
      {names.slice(0, MOST_NAMES).map(({ span, count }) => (
        <span key={span.id} className={styles.named}>
          <button
            type="button"
            className={`${styles.name} ${styles[span.kind] ?? ""}`}
            onClick={() => onShow(span)}
            title={`${describeSpan(span)}. Show it in the text.`}
          >
            <bdi>{nameSpan(span)}</bdi>
            {count > 1 ? ` ×${count}` : ""}
          </button>
          {wordAddress && span.kind === "term" && (
            <Link
              href={wordAddress(span.name)}
              className={styles.wordLink}
              aria-label={`${span.name} in the vocabulary`}
              title="What the word costs, and where it stands"
            >
              <BookType size={14} aria-hidden />
            </Link>
          )}
        </span>
      ))}
      {names.length > MOST_NAMES && <span className={styles.muted}>and {names.length - MOST_NAMES} more</span>}
    </div>
  );
}

function nameSpan({ kind, name }: Span): string {
  if (kind === "notation") return describeRule(name);
  return kind === "window" ? "Show the hardest passage" : name;
}
