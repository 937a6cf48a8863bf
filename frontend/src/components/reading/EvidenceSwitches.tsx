import { ToggleButton } from "react-aria-components/ToggleButton";
import { EVIDENCE } from "@/words/signals";
import styles from "./reading.module.css";
import { KINDS, type Kind, type Span } from "./segments";

interface EvidenceSwitchesProps {
  spans: readonly Span[];
  shown: ReadonlySet<Kind>;
  onChange: (shown: ReadonlySet<Kind>) => void;
}

/** What is marked in the text, kind by kind; a legend at the same time. */
export function EvidenceSwitches({ spans, shown, onChange }: EvidenceSwitchesProps) {
  const present = KINDS.filter((kind) => spans.some((span) => span.kind === kind));
  if (present.length === 0) return <p className={styles.muted}>Nothing in the text speaks against it.</p>;
  return (
    <div className={styles.switches} role="group" aria-label="Marked in the text">
      {present.map((kind) => (
        <ToggleButton
          key={kind}
          className={styles.switch}
          isSelected={shown.has(kind)}
          onChange={(isOn) => {
            const next = new Set(shown);
            if (isOn) next.add(kind);
            else next.delete(kind);
            onChange(next);
          }}
        >
          <span className={`${styles.sample} ${styles[kind] ?? ""}`} data-shade={kind === "hard_word" ? 3 : undefined}>
            a
          </span>
          {EVIDENCE[kind].label}{" "}
          <span className={styles.count}>{spans.filter((span) => span.kind === kind).length}</span>
        </ToggleButton>
      ))}
    </div>
  );
}
