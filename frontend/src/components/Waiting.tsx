import type { ReactNode } from "react";
import { isBeingBuilt } from "@/api/waiting";
import styles from "./message.module.css";
import { ProblemMessage } from "./ProblemMessage";
import { EmptyState, Loading } from "./states";

interface Asked<T> {
  data: T | undefined;
  error: unknown;
  failureReason: unknown;
  refetch: () => unknown;
}

interface IndexedProps<T> {
  query: Asked<T>;
  what: string;
  children: (data: T) => ReactNode;
}

/** Content that comes from the index of a run: it is waited for where it is still being built. */
export function Indexed<T>({ query, what, children }: IndexedProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ProblemMessage error={query.error} onRetry={() => query.refetch()} />;
  return isBeingBuilt(query.failureReason) ? <BeingBuilt /> : <Loading what={what} />;
}

export function BeingBuilt() {
  return (
    <div role="status">
      <EmptyState title="The documents are being made ready">
        <p>
          Everything that was measured is put in order once, so that questions are answered at once. This page goes on
          by itself.
        </p>
        <div className={styles.loading}>
          <div className={styles.bar} />
        </div>
      </EmptyState>
    </div>
  );
}
