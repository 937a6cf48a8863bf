import { useState } from "react";
import { usePushExport } from "@/api/exports";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { CheckField, Form, FormButtons, TextField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";

interface PushDialogProps {
  exportId: number;
  isOpen: boolean;
  onClose: () => void;
}

const NAME = /^[A-Za-z0-9][\w.-]{0,94}\/[A-Za-z0-9][\w.-]{0,94}$/;

export function PushDialog({ exportId, isOpen, onClose }: PushDialogProps) {
  return (
    <Dialog title={`Publish export ${exportId}`} isOpen={isOpen} onClose={onClose}>
      <PushForm exportId={exportId} onClose={onClose} />
    </Dialog>
  );
}

function PushForm({ exportId, onClose }: Omit<PushDialogProps, "isOpen">) {
  const [repository, setRepository] = useState("");
  const [branch, setBranch] = useState("main");
  const [isPrivate, setIsPrivate] = useState(true);
  const push = usePushExport(exportId);

  function submit() {
    push.mutate(
      { repo_id: repository.trim(), revision: branch.trim(), private: isPrivate },
      {
        onSuccess: () => {
          onClose();
          tell(`Export ${exportId} is being sent to ${repository.trim()}.`);
        },
      },
    );
  }

  return (
    <Form onSubmit={submit} label="Publish">
      <p>Sends its files to a data set of the Hugging Face Hub. Asked again, only what is missing there is sent.</p>
      <TextField
        label="Repository"
        value={repository}
        onChange={setRepository}
        placeholder="owner/name"
        description="It is made where there is none. The workers need a token that may write to it, in HF_TOKEN."
        isRequired
        autoFocus
      />
      <TextField label="Branch" value={branch} onChange={setBranch} description="Made if missing." isRequired />
      <CheckField
        label="Private"
        description="only its owner and whom they let in can see it; this holds for a new repository"
        isSelected={isPrivate}
        onChange={setIsPrivate}
      />
      {push.error ? <ProblemMessage error={push.error} /> : null}
      <FormButtons>
        <Button
          type="submit"
          look="primary"
          isDisabled={push.isPending || !NAME.test(repository.trim()) || branch.trim() === ""}
        >
          {push.isPending ? "Asking…" : "Publish it"}
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
