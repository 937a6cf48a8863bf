import { splitHidden } from "./hidden";
import styles from "./reading.module.css";

/** Text, with what cannot be seen shown by name. */
export function PlainText({ text }: { text: string }) {
  return splitHidden(text).map((part, place) =>
    typeof part === "string" ? (
      part
    ) : (
      <span
        key={place}
        className={styles.hidden}
        role="img"
        aria-label={`hidden: ${part.meaning}`}
        title={`${part.meaning}${part.count > 1 ? `, ${part.count} times` : ""}`}
        data-shown={part.count > 1 ? `${part.short}×${part.count}` : part.short}
      />
    ),
  );
}
