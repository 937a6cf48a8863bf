import { askNow, isReachable } from "@/api/connection";
import { useStore } from "@/api/store";
import { Button } from "@/components/Button";
import styles from "./layout.module.css";

/** Says that the service does not answer, and goes when it does. */
export function ConnectionBanner() {
  const isThere = useStore(isReachable);
  if (isThere) return null;
  return (
    <div className={styles.banner} role="alert">
      <span>The service does not answer. What you see may be old; everything goes on by itself once it is back.</span>
      <Button isSmall onPress={askNow}>
        Try now
      </Button>
    </div>
  );
}
