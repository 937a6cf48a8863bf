import { explainError } from "@/api/problem";
import { Button } from "./Button";
import styles from "./message.module.css";

interface ProblemMessageProps {
  error: unknown;
  onRetry?: () => void;
}

/** What went wrong and what to do about it, as the service says it. */
export function ProblemMessage({ error, onRetry }: ProblemMessageProps) {
  const { detail, hint, errors } = explainError(error);
  return (
    <div className={styles.problem} role="alert">
      <p className={styles.detail}>{detail}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ where, message }) => (
            <li key={where + message}>
              {where ? `${where}: ` : ""}
              {message}
            </li>
          ))}
        </ul>
      )}
      {hint && errors.length === 0 && <p>{hint}</p>}
      {onRetry && (
        <div className={styles.retry}>
          <Button isSmall onPress={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}
