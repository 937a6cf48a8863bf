import { useState } from "react";
import { useLocation } from "wouter";
import { useCreateDraft, type Profile } from "@/api/profiles";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";
import { NAME_IS_WRONG, PROFILE_NAME } from "@/words/profile-names";
import { useVersionOptions } from "./useVersionOptions";

interface NewDraftDialogProps {
  isOpen: boolean;
  onClose: () => void;
  profiles: readonly Profile[];
  /** The version that the draft begins as, where one was asked for. */
  templateId: string | null;
}

/** A new profile begins as a copy: thresholds out of nothing would belong to no model. */
export function NewDraftDialog({ isOpen, ...props }: NewDraftDialogProps) {
  return (
    <Dialog title="New profile" isOpen={isOpen} onClose={props.onClose}>
      <NewDraft {...props} />
    </Dialog>
  );
}

function NewDraft({ onClose, profiles, templateId: askedId }: Omit<NewDraftDialogProps, "isOpen">) {
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  const first = profiles.find((profile) => profile.name === "recommended") ?? profiles[0];
  const [templateId, setTemplateId] = useState(askedId ?? (first ? String(first.newest.id) : null));
  const create = useCreateDraft();
  const options = useVersionOptions(profiles);
  const isNameRight = PROFILE_NAME.test(name);

  function submit() {
    create.mutate(
      { name, note: note.trim(), version_id: Number(templateId) },
      {
        onSuccess: (draft) => {
          tell(`${draft.name} v${draft.version} is a draft.`);
          go(`/profiles/${draft.name}/${draft.version}`);
        },
      },
    );
  }

  return (
    <Form onSubmit={submit} label="New profile">
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        description="Small letters, digits, - and _. A name that exists gets its next version."
        error={name && !isNameRight ? NAME_IS_WRONG : undefined}
      />
      <SelectField label="Begins as a copy of" value={templateId} onChange={setTemplateId} options={options} />
      <TextField
        label="Note"
        value={note}
        onChange={setNote}
        description="What it is for, or what will be different."
      />
      {create.error ? <ProblemMessage error={create.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={create.isPending || !isNameRight || templateId === null}>
          Make the draft
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
