import { ArrowDown, ArrowUp } from "lucide-react";
import { useState, type ReactNode, type Ref } from "react";
import { useCursorPages, type CursorPages, type Sight } from "@/api/cursor-pages";
import { documentPages, type DecisionChoice, type DocumentQuery, type DocumentRow, type Sort } from "@/api/documents";
import { isBeingBuilt } from "@/api/waiting";
import { Button } from "@/components/Button";
import { DocumentGrid } from "@/components/DocumentGrid";
import { SelectField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";
import { EmptyState, Loading } from "@/components/states";
import { FIRST_SIGHT, type GridHandle } from "@/components/VirtualGrid";
import { BeingBuilt } from "@/components/Waiting";
import { plural } from "@/words/numbers";
import { describeSignal, SIGNALS } from "@/words/signals";
import styles from "./documents.module.css";

const SOURCE_ORDER = "source";

interface DocumentTableProps {
  jobId: number;
  choice: DecisionChoice;
  query: DocumentQuery;
  sort: Sort;
  onSort: (sort: Sort) => void;
  selected: number | null;
  onSelect: (position: number) => void;
  onOpen: () => void;
  onRuleAll?: (total: number) => void;
  handle: Ref<GridHandle>;
}

/** The documents of a query in their order. A table stays as it was asked for, but for rulings that are made in it. */
export function DocumentTable(props: DocumentTableProps) {
  const { jobId, choice, query, sort, onSort, selected, onSelect, onOpen, onRuleAll, handle } = props;
  const [sight, setSight] = useState<Sight>(FIRST_SIGHT);
  const pages = useCursorPages(documentPages({ job: jobId, choice, query, sort }), sight);
  return (
    <section className={styles.table} aria-label="Documents">
      <div className={styles.tableHead}>
        <span className={styles.total} role="status">
          {pages.total === undefined ? " " : plural(pages.total, "document")}
        </span>
        <div className={styles.sort}>
          <SelectField
            label="Order"
            isLabelHidden
            value={sort.column ?? SOURCE_ORDER}
            onChange={(column) => onSort(column === SOURCE_ORDER ? {} : { column, is_descending: true })}
            options={[
              { value: SOURCE_ORDER, label: "As in the source" },
              ...SIGNALS.map((column) => ({ value: column, label: describeSignal(column).label })),
            ]}
          />
          {sort.column && (
            <Button
              isSmall
              aria-label={
                sort.is_descending ? "Greatest first; change to least first" : "Least first; change to greatest first"
              }
              onPress={() => onSort({ column: sort.column ?? null, is_descending: !sort.is_descending })}
            >
              {sort.is_descending ? <ArrowDown size={15} aria-hidden /> : <ArrowUp size={15} aria-hidden />}
            </Button>
          )}
        </div>
      </div>
      <Rows
        pages={pages}
        grid={
          <DocumentGrid
            label="Documents"
            pages={pages}
            onSight={setSight}
            selected={selected}
            onSelect={onSelect}
            onOpen={onOpen}
            column={sort.column && sort.column !== "tokens" ? sort.column : undefined}
            handle={handle}
          />
        }
      />
      {onRuleAll && pages.total !== undefined && pages.total > 0 && (
        <div>
          <Button isSmall onPress={() => onRuleAll(pages.total ?? 0)}>
            Rule on all {plural(pages.total, "document")}…
          </Button>
        </div>
      )}
    </section>
  );
}

function Rows({ pages, grid }: { pages: CursorPages<DocumentRow>; grid: ReactNode }) {
  if (pages.total === undefined) {
    if (pages.error) return <ProblemMessage error={pages.error} onRetry={pages.refetch} />;
    return isBeingBuilt(pages.failureReason) ? <BeingBuilt /> : <Loading what="the documents" />;
  }
  if (pages.total === 0) return <EmptyState title="No such document">Take away a condition to see more.</EmptyState>;
  return grid;
}
