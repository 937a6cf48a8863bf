import { useMemo, useRef, useState, type ReactNode } from "react";
import type { Decision, Distance, Explanation } from "@/api/documents";
import { createStore, useStore } from "@/api/store";
import { plural } from "@/words/numbers";
import { EvidenceSwitches } from "./EvidenceSwitches";
import styles from "./reading.module.css";
import { KINDS, listSpans, type Kind, type Span } from "./segments";
import { TextView, type TextHandle } from "./TextView";
import { Verdict } from "./Verdict";
import { WhyPanel } from "./WhyPanel";

/** Stays from document to document. */
const shownKinds = createStore<ReadonlySet<Kind>>(new Set(KINDS));
let lastShown: ReadonlySet<Kind> = new Set(KINDS);

/** Marks all evidence, or none; none, then what was marked before. */
export function toggleEvidence(): void {
  const now = shownKinds.get();
  if (now.size > 0) lastShown = now;
  shownKinds.set(now.size > 0 ? new Set() : lastShown);
}

interface ReadingPaneProps {
  decision: Decision;
  explanation: Explanation;
  distances: readonly Distance[];
  soleCause: string | null;
  isSoleCertain: boolean;
  /** The text as the source has it, where it differs from what was read. */
  sourceText?: string;
  /** Where a word beyond grade 5 can be looked at. */
  wordAddress?: (word: string) => string;
  head?: ReactNode;
  foot?: ReactNode;
}

/** A text beside the reasons for its decision, with the evidence marked in place. */
export function ReadingPane(props: ReadingPaneProps) {
  const { decision, explanation, distances, soleCause, isSoleCertain, sourceText, wordAddress, head, foot } = props;
  const text = useRef<TextHandle>(null);
  const shown = useStore(shownKinds);
  const [isSource, setIsSource] = useState(false);
  const spans = useMemo(() => listSpans(explanation), [explanation]);
  const length = explanation.text.length;
  const marked = useMemo(
    () => spans.filter((span) => shown.has(span.kind) && !isWholeText(span, length)),
    [spans, shown, length],
  );
  const isChanged = sourceText !== undefined && sourceText !== explanation.text;
  const showsSource = isChanged && isSource;
  const changes = Object.values(explanation.changes).reduce((sum, count) => sum + count, 0);
  return (
    <div className={styles.pane}>
      {head}
      <Verdict decision={decision} soleCause={soleCause} isSoleCertain={isSoleCertain} />
      <div className={styles.halves}>
        <div className={styles.reasons}>
          <WhyPanel
            explanation={explanation}
            distances={distances}
            spans={spans}
            wordAddress={wordAddress}
            onShow={(span) => {
              setIsSource(false);
              shownKinds.set(new Set([...shown, span.kind]));
              text.current?.show(span);
            }}
          />
          {foot}
        </div>
        <div className={styles.reader}>
          <EvidenceSwitches spans={spans} shown={shown} onChange={(kinds) => shownKinds.set(kinds)} />
          {isChanged && (
            <p className={styles.muted}>
              {showsSource
                ? "As the source has it, without marks."
                : `Tidied before it was read: ${plural(changes, "place")}.`}{" "}
              <button type="button" className={styles.link} onClick={() => setIsSource(!isSource)}>
                {showsSource ? "Show what was read" : "Show it as the source has it"}
              </button>
            </p>
          )}
          <TextView
            text={showsSource ? sourceText : explanation.text}
            spans={showsSource ? [] : marked}
            label="Text of the document"
            handle={text}
          />
        </div>
      </div>
    </div>
  );
}

/** A passage that is the text, or nearly so, is not marked: all of it would be shaded. */
function isWholeText({ kind, start, end }: Span, length: number): boolean {
  return kind === "window" && end - start > 0.95 * length;
}
