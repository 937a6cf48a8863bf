import styles from "./reading.module.css";

export interface TipPlace {
  left: number;
  top: number;
  bottom: number;
  lines: readonly string[];
}

const WIDTH = 320;
const ROOM = 120;

/** What a mark means, beside the mark. Places of evidence are many: one tip serves them all. */
export function Tip({ place: { left, top, bottom, lines } }: { place: TipPlace }) {
  const isAbove = bottom + ROOM > window.innerHeight;
  return (
    <div
      role="tooltip"
      className={styles.tip}
      style={{
        left: Math.max(8, Math.min(left, window.innerWidth - WIDTH - 8)),
        ...(isAbove ? { bottom: window.innerHeight - top + 6 } : { top: bottom + 6 }),
      }}
    >
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}
