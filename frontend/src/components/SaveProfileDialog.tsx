import { useState } from "react";
import type { ProfileContent } from "@/api/documents";
import type { ContentDifference } from "@/api/profile-contents";
import type { VersionSummary } from "@/api/profiles";
import { useSaveVersion } from "@/api/what-if";
import { describeThreshold, formatAsked } from "@/words/thresholds";
import { NAME_IS_WRONG, PROFILE_NAME } from "@/words/profile-names";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Form, FormButtons, TextField } from "./fields";
import { ProblemMessage } from "./ProblemMessage";
import styles from "./save-profile.module.css";
import { tell } from "./toasts";

interface SaveProfileDialogProps {
  isOpen: boolean;
  onClose: () => void;
  content: ProfileContent;
  differences: readonly ContentDifference[];
  /** Empty where the profile that was begun from is not to be continued under its name. */
  suggestedName: string;
  versions: readonly VersionSummary[];
  onSaved: (id: number) => void;
}

export function SaveProfileDialog({ isOpen, ...props }: SaveProfileDialogProps) {
  return (
    <Dialog title="Save as a profile version" isOpen={isOpen} onClose={props.onClose}>
      {isOpen && <SaveForm {...props} />}
    </Dialog>
  );
}

function SaveForm({
  onClose,
  content,
  differences,
  suggestedName,
  versions,
  onSaved,
}: Omit<SaveProfileDialogProps, "isOpen">) {
  const [name, setName] = useState(suggestedName);
  const [note, setNote] = useState("");
  const save = useSaveVersion();
  const isNameRight = PROFILE_NAME.test(name);
  const isBundled = versions.some((version) => version.name === name && version.author === "system");
  const isKnown = versions.some((version) => version.name === name);
  const error = !name || isNameRight ? undefined : NAME_IS_WRONG;

  return (
    <Form
      label="Save as a profile version"
      onSubmit={() =>
        save.mutate(
          { name, content, note: note.trim() },
          {
            onSuccess: (saved) => {
              tell(`${saved.name} v${saved.version} is published.`);
              onSaved(saved.id);
            },
          },
        )
      }
    >
      <ul className={styles.differences} aria-label="What is different">
        {differences.map(({ path, before, after }) => (
          <li key={path}>
            {describeThreshold(path).label}: {formatAsked(path, before)} → <strong>{formatAsked(path, after)}</strong>
          </li>
        ))}
      </ul>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        isRequired
        autoFocus
        description={
          isKnown && !isBundled ? "This becomes the next version of that profile." : "A new profile of that name."
        }
        error={isBundled ? "This profile came with Primer and stays as it is: choose another name." : error}
      />
      <TextField
        label="Note"
        value={note}
        onChange={setNote}
        isRequired
        maxLength={2_000}
        description="Why it is different, for who chooses a profile."
      />
      {save.error ? <ProblemMessage error={save.error} /> : null}
      <p className={styles.muted}>It is published at once: nobody can change it afterwards, and jobs may use it.</p>
      <FormButtons>
        <Button
          type="submit"
          look="primary"
          isDisabled={save.isPending || !isNameRight || isBundled || note.trim() === ""}
        >
          {save.isPending ? "Saving…" : "Save and publish"}
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
