import type { Ref } from "react";
import type { CursorPages, Sight } from "@/api/cursor-pages";
import type { DocumentRow } from "@/api/documents";
import { formatCount } from "@/words/numbers";
import { outcomeOf, OUTCOMES } from "@/words/outcomes";
import { describeSignal, formatSignal } from "@/words/signals";
import { describeStage } from "@/words/terms";
import styles from "./grid.module.css";
import { VirtualGrid, type GridHandle } from "./VirtualGrid";

interface DocumentGridProps {
  label: string;
  pages: CursorPages<DocumentRow>;
  onSight: (sight: Sight) => void;
  /** The document that is read, by its position in the run. */
  selected: number | null;
  onSelect: (position: number) => void;
  onOpen?: () => void;
  /** A number shown beside each document, where it is not its length. */
  column?: string;
  handle?: Ref<GridHandle>;
}

/** Documents, one row each. */
export function DocumentGrid({ onSelect, column, ...props }: DocumentGridProps) {
  return (
    <VirtualGrid {...props} keyOf={({ position }) => position} onSelect={({ position }) => onSelect(position)}>
      {(row) => <RowCells row={row} column={column} />}
    </VirtualGrid>
  );
}

function RowCells({ row, column }: { row: DocumentRow; column: string | undefined }) {
  const outcome = outcomeOf(row);
  const value = column === undefined ? undefined : row.values[column];
  const unit = column === undefined ? "tokens" : describeSignal(column).unit;
  return (
    <>
      <div role="gridcell" className={styles.outcome}>
        <span className={`${styles.dot} ${styles[outcome] ?? ""}`} title={OUTCOMES[outcome].label}>
          <span className={styles.spoken}>{OUTCOMES[outcome].label}</span>
        </span>
      </div>
      <div role="gridcell" className={styles.what}>
        <bdi className={styles.name} title={row.url ?? undefined}>
          {nameRow(row)}
        </bdi>
        <span className={styles.under}>
          <span className={styles.cause}>{describeCause(row)}</span>
          <span className={styles.number}>{formatCount(row.tokens)} tokens</span>
        </span>
      </div>
      {value !== undefined && (
        <div role="gridcell" className={styles.number}>
          {value === null ? "–" : formatSignal(unit, value)}
        </div>
      )}
    </>
  );
}

/** What people know a document by: its address without what all have, else its id, else its place. */
export function nameRow({ url, doc_id, shard, row }: Pick<DocumentRow, "url" | "doc_id" | "shard" | "row">): string {
  return url?.replace(/^https?:\/\/(www\.)?/, "") || doc_id || `${shard}, row ${row + 1}`;
}

function describeCause({ kept, decided_by, excluded_by, undecided_for }: DocumentRow): string {
  const name = (stage: string) => describeStage(stage).label;
  if (decided_by === "override") return kept ? "Kept by a person" : "Ruled out by a person";
  if (kept === true) return "Passes every stage";
  if (kept === null) return `Not measured: ${undecided_for.map(name).join(", ").toLowerCase()}`;
  const [first = decided_by ?? "", ...others] = excluded_by;
  return others.length > 0 ? `${name(first)} and ${others.length} more` : name(first);
}
