import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { documentQuery, patchRow, type DecisionChoice, type DocumentView } from "@/api/documents";
import { useRule, type Ruling, type Verb } from "@/api/rulings";
import { useSignedInName } from "@/api/roles";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { nameRow } from "@/components/DocumentGrid";
import { Form, FormButtons, TextField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";
import styles from "./documents.module.css";
import { findOverruled, VERBS } from "./ruling";

const lastReasons = new Map<Verb, string>();

interface RulingDialogProps {
  jobId: number;
  sourceId: number;
  document: DocumentView;
  choice: DecisionChoice;
  history: readonly Ruling[];
  action: Verb | undefined;
  onClose: () => void;
}

/** A ruling with its reason. The reason of the last one is there already: many documents are alike. */
export function RulingDialog({ action, ...props }: RulingDialogProps) {
  return (
    <Dialog title={action ? VERBS[action].title : ""} isOpen={action !== undefined} onClose={props.onClose}>
      {action && <RulingForm action={action} {...props} />}
    </Dialog>
  );
}

function RulingForm({
  jobId,
  sourceId,
  document,
  choice,
  history,
  action,
  onClose,
}: RulingDialogProps & { action: Verb }) {
  const client = useQueryClient();
  const [reason, setReason] = useState(lastReasons.get(action) ?? "");
  const rule = useRule();
  const overruled = findOverruled(history, action, useSignedInName());
  const { shard_sha256, row, position } = document;

  function submit() {
    rule.mutate(
      { source: sourceId, shard_sha256, row, action, reason: reason.trim() },
      {
        onSuccess: async ({ disagreements }) => {
          lastReasons.set(action, reason.trim());
          const [other] = disagreements;
          tell(
            other
              ? `${VERBS[action].done}. This overrules ${other.author}, who ${VERBS[other.action].past}: ${other.reason}`
              : `${VERBS[action].done}.`,
          );
          onClose();
          const { decision } = await client.fetchQuery(documentQuery(jobId, position, choice));
          patchRow(client, jobId, position, decision);
        },
      },
    );
  }

  return (
    <Form onSubmit={submit} label={VERBS[action].title}>
      <p className={styles.subject}>
        <bdi>{nameRow(document)}</bdi>
      </p>
      {overruled && (
        <p className={styles.warning} role="alert">
          {overruled.author} {VERBS[overruled.action].past} for this reason: <q>{overruled.reason}</q> Your ruling takes
          its place; the history keeps both.
        </p>
      )}
      <TextField
        label="Reason"
        value={reason}
        onChange={setReason}
        isRequired
        autoFocus
        maxLength={2_000}
        description="Others read it. Return rules at once."
      />
      {rule.error ? <ProblemMessage error={rule.error} /> : null}
      <FormButtons>
        <Button
          type="submit"
          look={action === "exclude" ? "danger" : "primary"}
          isDisabled={rule.isPending || reason.trim() === ""}
        >
          {rule.isPending ? "Sending…" : VERBS[action].button}
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
