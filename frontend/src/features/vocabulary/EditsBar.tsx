import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { plural } from "@/words/numbers";
import styles from "./vocabulary.module.css";

interface EditsBarProps {
  count: number;
  isShown: boolean;
  onShow: (isShown: boolean) => void;
}

/** How many edits wait to be saved, and the way to them. */
export function EditsBar({ count, isShown, onShow }: EditsBarProps) {
  const mayRule = useIsAllowed("rule");
  if (!mayRule) return null;
  return (
    <section className={styles.editsBar} aria-label="Not saved yet">
      <span role="status">{count === 0 ? "No edits to save." : `${plural(count, "edit")} not saved yet.`}</span>
      <Button isSmall look={count > 0 && !isShown ? "primary" : "plain"} onPress={() => onShow(!isShown)}>
        {isShown ? "Back to the word" : "Edits and their impact"}
      </Button>
    </section>
  );
}
