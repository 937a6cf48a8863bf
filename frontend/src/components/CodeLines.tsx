import styles from "./code.module.css";
import { CopyButton } from "./CopyButton";

interface CodeLinesProps {
  label: string;
  /** What is copied, as in "Copy the lines". */
  what: string;
  lines: readonly string[];
}

/** Lines to be pasted elsewhere. */
export function CodeLines({ label, what, lines }: CodeLinesProps) {
  const text = lines.join("\n");
  return (
    <div className={styles.code}>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={`${text}\n`} what={what} />
    </div>
  );
}
