// What stands where content will be: while it is loaded, and when there is none.
import type { ReactNode } from "react";
import styles from "./message.module.css";
import { ProblemMessage } from "./ProblemMessage";

export function Loading({ what = "" }: { what?: string }) {
  return (
    <div className={styles.loading} role="status" aria-label={`Loading ${what}`.trim()}>
      <div className={styles.bar} />
      <div className={styles.bar} />
      <div className={styles.bar} />
    </div>
  );
}

interface EmptyStateProps {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      <div className={styles.emptyText}>{children}</div>
      {action}
    </div>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface LoadedProps<T> {
  query: Asked<T>;
  what: string;
  children: (data: T) => ReactNode;
}

/** The content of a query, or that it is being loaded, or why it is not there. What was loaded once stays to be read. */
export function Loaded<T>({ query, what, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ProblemMessage error={query.error} onRetry={() => query.refetch()} />;
  return <Loading what={what} />;
}
