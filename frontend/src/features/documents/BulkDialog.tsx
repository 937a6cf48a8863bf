import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import {
  bulkPreviewQuery,
  useRuleInBulk,
  type BulkAsked,
  type DecisionChoice,
  type DocumentQuery,
} from "@/api/documents";
import { ProblemError } from "@/api/problem";
import type { Verb } from "@/api/rulings";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Figures } from "@/components/Figures";
import { Form, FormButtons, TextField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";
import { Indexed } from "@/components/Waiting";
import { formatCount, formatShortCount, plural } from "@/words/numbers";
import { listConditions } from "./conditions";
import styles from "./documents.module.css";
import { VERBS } from "./ruling";

interface BulkDialogProps {
  jobId: number;
  choice: DecisionChoice;
  query: DocumentQuery;
  isOpen: boolean;
  onClose: () => void;
  onDone: () => void;
}

export function BulkDialog({ isOpen, ...props }: BulkDialogProps) {
  return (
    <Dialog title="Rule on all documents of the query" isOpen={isOpen} onClose={props.onClose}>
      {isOpen && <BulkForm {...props} />}
    </Dialog>
  );
}

const ACTIONS: readonly Verb[] = ["keep", "exclude", "undo"];

/** What would change is shown first; what is ruled then is exactly that, or nothing. */
function BulkForm({ jobId, choice, query, onClose, onDone }: Omit<BulkDialogProps, "isOpen">) {
  const [action, setAction] = useState<Verb>("exclude");
  const [reason, setReason] = useState("");
  const asked: BulkAsked = { decisions: choice, query, action, reason: "preview" };
  const preview = useQuery({ ...bulkPreviewQuery(jobId, asked), placeholderData: (previous) => previous });
  const rule = useRuleInBulk(jobId);
  const conditions = listConditions(query);
  const isOutdated = rule.error instanceof ProblemError && rule.error.status === 409;

  function submit() {
    if (!preview.data) return;
    rule.mutate(
      { ...asked, reason: reason.trim(), expected: preview.data.documents },
      {
        onSuccess: ({ documents }) => {
          tell(`${VERBS[action].done}: ${plural(documents, "document")}.`);
          onDone();
        },
      },
    );
  }

  return (
    <Form onSubmit={submit} label="Rule on all documents of the query">
      {conditions.length > 0 ? (
        <ul className={styles.chips} aria-label="Which documents">
          {conditions.map(({ key, label }) => (
            <li key={key} className={styles.chip}>
              <bdi>{label}</bdi>
            </li>
          ))}
        </ul>
      ) : (
        <p className={styles.warning}>No condition is set: this rules on every document of the job.</p>
      )}
      <ToggleButtonGroup
        className={styles.choice}
        aria-label="What to do"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[action]}
        onSelectionChange={(keys) => {
          const [chosen] = keys;
          if (chosen !== undefined) setAction(chosen as Verb);
        }}
      >
        {ACTIONS.map((verb) => (
          <ToggleButton key={verb} id={verb}>
            {verb === "undo" ? "Undo rulings" : VERBS[verb].button}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <Indexed query={preview} what="what would change">
        {({ documents, tokens, outcomes }) => (
          <Figures
            figures={[
              {
                label: "Documents",
                value: formatShortCount(documents),
                exact: formatCount(documents),
                meaning: "Documents that the ruling is on.",
              },
              {
                label: "Tokens",
                value: formatShortCount(tokens),
                exact: formatCount(tokens),
                meaning: "Pieces of words, as language models count text, in these documents.",
              },
              {
                label: "Kept now",
                value: formatShortCount(outcomes.kept ?? 0),
                meaning: "Of these, kept as things are.",
              },
              {
                label: "Excluded now",
                value: formatShortCount(outcomes.excluded ?? 0),
                meaning: "Of these, excluded as things are.",
              },
              {
                label: "Undecided now",
                value: formatShortCount(outcomes.undecided ?? 0),
                meaning: "Of these, undecided as things are.",
              },
            ]}
          />
        )}
      </Indexed>
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        isRequired
        maxLength={2_000}
        description="Others read it with every one of these documents."
      />
      {rule.error ? <ProblemMessage error={rule.error} /> : null}
      <FormButtons>
        <Button
          type="submit"
          look={action === "exclude" ? "danger" : "primary"}
          isDisabled={
            rule.isPending || !preview.data || preview.data.documents === 0 || reason.trim() === "" || isOutdated
          }
        >
          {rule.isPending ? "Sending…" : `${VERBS[action].button} ${plural(preview.data?.documents ?? 0, "document")}`}
        </Button>
        {isOutdated && (
          <Button
            onPress={() => {
              rule.reset();
              void preview.refetch();
            }}
          >
            Preview again
          </Button>
        )}
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
