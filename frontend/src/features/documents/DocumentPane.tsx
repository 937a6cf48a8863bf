import { useQuery } from "@tanstack/react-query";
import { Check, Undo2, X } from "lucide-react";
import { useImperativeHandle, useState, type Ref } from "react";
import { documentQuery, type DecisionChoice, type DocumentView } from "@/api/documents";
import { useIsAllowed } from "@/api/roles";
import { rulingsOfQuery, type Verb } from "@/api/rulings";
import { Button } from "@/components/Button";
import { nameRow } from "@/components/DocumentGrid";
import { ReadingPane } from "@/components/reading/ReadingPane";
import { Verdict } from "@/components/reading/Verdict";
import { tell } from "@/components/toasts";
import { Indexed } from "@/components/Waiting";
import { formatCount } from "@/words/numbers";
import styles from "./documents.module.css";
import { findInForce } from "./ruling";
import { RulingDialog } from "./RulingDialog";
import { RulingHistory } from "./RulingHistory";

export interface PaneHandle {
  rule: (action: Verb) => void;
}

interface DocumentPaneProps {
  jobId: number;
  sourceId: number | undefined;
  position: number;
  choice: DecisionChoice;
  handle: Ref<PaneHandle>;
}

export function DocumentPane({ jobId, position, choice, ...props }: DocumentPaneProps) {
  const document = useQuery(documentQuery(jobId, position, choice));
  return (
    <Indexed query={document} what="the document">
      {(found) => <Reading jobId={jobId} choice={choice} document={found} {...props} />}
    </Indexed>
  );
}

function nameWord(jobId: number, { vocabulary_id }: DecisionChoice, word: string): string {
  return `/vocabulary/${jobId}?${vocabulary_id ? `version=${vocabulary_id}&` : ""}word=${encodeURIComponent(word)}`;
}

type ReadingProps = Omit<DocumentPaneProps, "position"> & { document: DocumentView };

function Reading({ jobId, sourceId, choice, document, handle }: ReadingProps) {
  const [action, setAction] = useState<Verb>();
  const { shard_sha256, row } = document;
  const history = useQuery({
    ...rulingsOfQuery({ source: sourceId ?? 0, shard_sha256, row }),
    enabled: sourceId !== undefined,
  });
  const rulings = history.data ?? [];
  const mayRule = useIsAllowed("rule") && sourceId !== undefined;

  function rule(asked: Verb) {
    if (!mayRule) tell("Ruling on documents needs the role of a curator.");
    else if (document.error !== null) tell("A document that cannot be read cannot be ruled on.");
    else if (asked === "undo" && !findInForce(rulings)) tell("There is no ruling to undo.");
    else setAction(asked);
  }
  useImperativeHandle(handle, () => ({ rule }));

  const head = (
    <header className={styles.paneHead}>
      <div className={styles.paneTitle}>
        <h2>
          <bdi>{nameRow(document)}</bdi>
        </h2>
        <p className={styles.note}>
          {document.doc_id !== null && (
            <>
              <bdi>{document.doc_id}</bdi> ·{" "}
            </>
          )}
          {formatCount(document.tokens)} tokens{document.is_estimated ? ", estimated" : ""} · row {formatCount(row + 1)}{" "}
          of <bdi>{document.shard}</bdi>
        </p>
      </div>
      {mayRule && (
        <div className={styles.rulingButtons} role="group" aria-label="Rule on this document">
          <Button isSmall onPress={() => rule("keep")} isDisabled={document.error !== null}>
            <Check size={15} aria-hidden /> Keep
          </Button>
          <Button isSmall onPress={() => rule("exclude")} isDisabled={document.error !== null}>
            <X size={15} aria-hidden /> Exclude
          </Button>
          <Button isSmall look="quiet" onPress={() => rule("undo")} isDisabled={!findInForce(rulings)}>
            <Undo2 size={15} aria-hidden /> Undo
          </Button>
        </div>
      )}
    </header>
  );

  return (
    <>
      {document.explanation ? (
        <ReadingPane
          key={document.position}
          decision={document.decision}
          explanation={document.explanation}
          distances={document.distances}
          soleCause={document.sole_cause}
          isSoleCertain={document.is_sole_certain}
          sourceText={document.text ?? undefined}
          wordAddress={(word) => nameWord(jobId, choice, word)}
          head={head}
          foot={<RulingHistory history={rulings} />}
        />
      ) : (
        <div className={styles.unreadable}>
          {head}
          <Verdict
            decision={document.decision}
            soleCause={document.sole_cause}
            isSoleCertain={document.is_sole_certain}
          />
          <p>It cannot be read: {document.error}</p>
        </div>
      )}
      <RulingDialog
        jobId={jobId}
        sourceId={sourceId ?? 0}
        document={document}
        choice={choice}
        history={rulings}
        action={action}
        onClose={() => setAction(undefined)}
      />
    </>
  );
}
