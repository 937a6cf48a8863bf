import { ArrowDown, ArrowUp } from "lucide-react";
import { useState, type ReactNode, type Ref } from "react";
import { Button as AriaButton } from "react-aria-components/Button";
import { Tooltip, TooltipTrigger } from "react-aria-components/Tooltip";
import { useCursorPages, type CursorPages, type Sight } from "@/api/cursor-pages";
import type { DecisionChoice } from "@/api/documents";
import { wordPages, type WordOrder, type WordRow, type WordsAsked } from "@/api/vocabularies";
import { isBeingBuilt } from "@/api/waiting";
import { ProblemMessage } from "@/components/ProblemMessage";
import { EmptyState, Loading } from "@/components/states";
import { FIRST_SIGHT, VirtualGrid, type GridHandle } from "@/components/VirtualGrid";
import { BeingBuilt } from "@/components/Waiting";
import explained from "@/components/explained.module.css";
import { describeSubject } from "@/words/concepts";
import { formatCount, formatShortCount, plural } from "@/words/numbers";
import {
  describeCounts,
  explainScore,
  formatKeptShare,
  formatScore,
  LOOKS_HARMLESS,
  WORD_ORDERS,
} from "@/words/vocabulary";
import { findEdit, nameRuling, type Edits } from "./edits";
import { RulingMark } from "./RulingMark";
import styles from "./vocabulary.module.css";

interface WordTableProps {
  jobId: number;
  choice: DecisionChoice;
  asked: WordsAsked;
  edits: Edits;
  selected: string | null;
  onSelect: (word: string) => void;
  onOpen: () => void;
  onOrder: (order: WordOrder, isDescending: boolean) => void;
  handle: Ref<GridHandle>;
}

interface ColumnHead {
  order: WordOrder;
  label: string;
  look: string | undefined;
}

const COLUMNS: readonly ColumnHead[] = [
  { order: "word", label: "Word", look: styles.wordCell },
  { order: "score", label: "Score", look: styles.score },
  { order: "documents", label: "In", look: styles.count },
  { order: "sole_documents", label: "Alone", look: styles.count },
  { order: "sole_tokens", label: "Tokens", look: styles.count },
  { order: "several_documents", label: "Shared", look: `${styles.count} ${styles.roomy}` },
  { order: "kept_documents", label: "Kept", look: styles.count },
];

/** The words of a query in their order, with what each of them costs. */
export function WordTable(props: WordTableProps) {
  const { jobId, choice, asked, edits, selected, onSelect, onOpen, onOrder, handle } = props;
  const [sight, setSight] = useState<Sight>(FIRST_SIGHT);
  const pages = useCursorPages(wordPages(jobId, choice, asked), sight);
  return (
    <section className={styles.table} aria-label="Words">
      <Rows
        pages={pages}
        grid={
          <VirtualGrid
            label="Words"
            pages={pages}
            onSight={setSight}
            keyOf={({ word }) => word}
            selected={selected}
            onSelect={({ word }) => onSelect(word)}
            onOpen={onOpen}
            handle={handle}
            rowLook={styles.wordRow}
            head={COLUMNS.map((column) => (
              <Head key={column.order} column={column} asked={asked} onOrder={onOrder} />
            ))}
          >
            {(row) => <Cells row={row} edits={edits} />}
          </VirtualGrid>
        }
      />
      <p className={styles.total} role="status">
        {pages.total === undefined ? " " : plural(pages.total, "word")}
      </p>
    </section>
  );
}

interface HeadProps {
  column: ColumnHead;
  asked: WordsAsked;
  onOrder: WordTableProps["onOrder"];
}

function Head({ column: { order, label, look }, asked, onOrder }: HeadProps) {
  const isSorted = asked.sort === order;
  const Arrow = asked.is_descending ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      className={look}
      aria-sort={isSorted ? (asked.is_descending ? "descending" : "ascending") : undefined}
    >
      <TooltipTrigger delay={250} closeDelay={80}>
        <AriaButton
          className={styles.headButton}
          onPress={() => onOrder(order, isSorted ? !asked.is_descending : order !== "word")}
        >
          {label}
          {isSorted && <Arrow size={13} aria-hidden />}
        </AriaButton>
        <Tooltip className={explained.tooltip} offset={6}>
          {WORD_ORDERS[order].label}. {WORD_ORDERS[order].meaning}
        </Tooltip>
      </TooltipTrigger>
    </div>
  );
}

function Cells({ row, edits }: { row: WordRow; edits: Edits }) {
  const edit = findEdit(edits, row.word);
  return (
    <>
      <div role="gridcell" className={styles.wordCell}>
        <span className={styles.wordName}>
          <bdi>{row.word}</bdi>
          <RulingMark ruling={edit ? nameRuling(edit) : row.ruling} isEdit={edit !== undefined} />
          {row.looks_harmless && !edit && (
            <span className={styles.harmless} title={LOOKS_HARMLESS.meaning}>
              harmless?
            </span>
          )}
        </span>
        <span className={styles.under}>
          <span title={describeCounts(row.counts)}>
            {row.counts
              ? `K-5 ${formatCount(row.counts.count_k5)}, beyond ${formatCount(row.counts.count_beyond)}`
              : "not counted"}
          </span>
          {row.subjects.length > 0 && (
            <span title="Subjects of the concepts in whose terms the word stands">
              {row.subjects.map(describeSubject).join(", ")}
            </span>
          )}
        </span>
      </div>
      <div role="gridcell" className={styles.score} title={explainScore(row)}>
        {formatScore(row)}
      </div>
      <div
        role="gridcell"
        className={styles.count}
        title={`${plural(row.documents, "document")} with the word; it counts in ${formatCount(row.hit_documents)}`}
      >
        {formatShortCount(row.documents)}
      </div>
      <div
        role="gridcell"
        className={`${styles.count} ${styles.strong}`}
        title={`${plural(row.sole_documents, "document")} that allowing this word would keep; ${formatCount(row.maybe_sole_documents)} more where something is not measured`}
      >
        {formatShortCount(row.sole_documents)}
      </div>
      <div
        role="gridcell"
        className={styles.count}
        title={`${plural(row.sole_tokens, "token")} in the documents lost by it alone`}
      >
        {formatShortCount(row.sole_tokens)}
      </div>
      <div
        role="gridcell"
        className={`${styles.count} ${styles.roomy}`}
        title={`${plural(row.several_documents, "document")}, ${plural(row.several_tokens, "token")}: lost by it and other words together`}
      >
        {formatShortCount(row.several_documents)}
      </div>
      <div
        role="gridcell"
        className={styles.count}
        title={`${plural(row.kept_documents, "kept document")} with the word, ${plural(row.kept_tokens, "token")}: ${formatKeptShare(row.kept_token_share)} of the kept tokens`}
      >
        {formatKeptShare(row.kept_share)}
      </div>
    </>
  );
}

function Rows({ pages, grid }: { pages: CursorPages<WordRow>; grid: ReactNode }) {
  if (pages.total === undefined) {
    if (pages.error) return <ProblemMessage error={pages.error} onRetry={pages.refetch} />;
    return isBeingBuilt(pages.failureReason) ? <BeingBuilt /> : <Loading what="the words" />;
  }
  if (pages.total === 0) return <EmptyState title="No such word">Take away a condition to see more.</EmptyState>;
  return grid;
}
