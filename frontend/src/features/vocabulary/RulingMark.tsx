import { describeRuling } from "@/words/vocabulary";
import styles from "./vocabulary.module.css";

/** What is ruled of a word, in a word; an edit that is not saved says so. */
export function RulingMark({ ruling, isEdit }: { ruling: string | null; isEdit: boolean }) {
  if (!ruling && !isEdit) return null;
  const [tone = "none"] = (ruling ?? "").split(", ");
  return (
    <span
      className={`${styles.mark} ${styles[tone] ?? ""} ${isEdit ? styles.edited : ""}`}
      title={isEdit ? "On your list, not saved yet" : "As this version rules"}
    >
      {describeRuling(ruling)}
      {isEdit && "*"}
    </span>
  );
}
