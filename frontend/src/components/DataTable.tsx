import {
  createSortedRowModel,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
  type ColumnDef,
  type RowData,
} from "@tanstack/react-table";
import { useMemo, type ReactNode } from "react";
import { Button } from "./Button";
import styles from "./table.module.css";

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

export interface Column<Row> {
  id: string;
  header: string;
  /** The heading is for screen readers alone. */
  isHeaderHidden?: boolean;
  cell: (row: Row) => ReactNode;
  /** What the column is sorted by; without it, it cannot be sorted. */
  sortBy?: (row: Row) => string | number;
  look?: "number" | "fit" | "wide";
  /** Left out on narrow screens. */
  isSecondary?: boolean;
}

interface DataTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  /** There are more rows to be had. */
  onMore?: () => void;
  isLoadingMore?: boolean;
}

/** Rows under headings. Keep `columns` the same from render to render. */
export function DataTable<Row extends RowData>({
  label,
  columns,
  rows,
  keyOf,
  onMore,
  isLoadingMore,
}: DataTableProps<Row>) {
  const definitions = useMemo<ColumnDef<typeof features, Row>[]>(
    () =>
      columns.map((column) => ({
        id: column.id,
        header: column.header,
        accessorFn: (row: Row) => column.sortBy?.(row) ?? "",
        enableSorting: column.sortBy !== undefined,
        sortFn: "basic" as const,
      })),
    [columns],
  );
  const table = useTable({ features, columns: definitions, data: rows, getRowId: (row) => String(keyOf(row)) });
  const classes = useMemo(() => new Map(columns.map((column) => [column.id, classOf(column)])), [columns]);
  return (
    <div>
      {/* A table that is wider than its place is scrolled by keys as well. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} tabIndex={0} role="group" aria-label={label}>
        <table className={styles.table} aria-label={label}>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map(({ column }) => {
                  const sorted = column.getIsSorted();
                  const described = columns.find(({ id }) => id === column.id);
                  const header = described?.isHeaderHidden ? (
                    <span className={styles.hidden}>{described.header}</span>
                  ) : (
                    described?.header
                  );
                  return (
                    <th
                      key={column.id}
                      scope="col"
                      className={classes.get(column.id)}
                      aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : undefined}
                    >
                      {column.getCanSort() ? (
                        <button type="button" className={styles.sort} onClick={column.getToggleSortingHandler()}>
                          {header}
                          {sorted === "asc" ? " ↑" : sorted === "desc" ? " ↓" : ""}
                        </button>
                      ) : (
                        header
                      )}
                    </th>
                  );
                })}
              </tr>
            ))}
          </thead>
          <tbody>
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id}>
                {columns.map((column) => (
                  <td key={column.id} className={classes.get(column.id)}>
                    {column.cell(row.original)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {onMore && (
        <div className={styles.more}>
          <Button isSmall onPress={onMore} isDisabled={isLoadingMore}>
            {isLoadingMore ? "Loading…" : "Show more"}
          </Button>
        </div>
      )}
    </div>
  );
}

function classOf<Row>({ look, isSecondary }: Column<Row>): string {
  return [look ? styles[look] : "", isSecondary ? styles.secondary : ""].join(" ");
}
