import { useState } from "react";
import type { Edit } from "@/api/catalogues";
import { Button, ButtonLink } from "@/components/Button";
import { ConfirmDialog } from "@/components/Dialog";
import { plural } from "@/words/numbers";
import styles from "./concepts.module.css";
import { setDraft } from "./draft";

interface EditBarProps {
  edit: Edit;
  /** The page that shows what it changes. */
  href: string;
}

/** That there is an edit, what it is about, and the way to save it. */
export function EditBar({ edit, href }: EditBarProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <div className={styles.editBar} role="status" aria-label="Your edit">
      <span>
        Your edit of version {edit.based_on}: {describeEdit(edit)}. It is not saved.
      </span>
      <span className={styles.barButtons}>
        <ButtonLink href={href} look="primary" isSmall>
          See what it changes
        </ButtonLink>
        <Button isSmall look="quiet" onPress={() => setIsAsking(true)}>
          Throw away…
        </Button>
      </span>
      <ConfirmDialog
        title="Throw your edit away?"
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => {
          setIsAsking(false);
          setDraft(null);
        }}
        confirm="Throw it away"
        isDangerous
      >
        <p>The catalogue stays as it is.</p>
      </ConfirmDialog>
    </div>
  );
}

export function describeEdit({ put, remove, csv }: Edit): string {
  if (csv !== null) return "a whole catalogue from a file";
  const parts = [
    put.length > 0 ? `${plural(put.length, "concept")} changed or added` : "",
    remove.length > 0 ? `${plural(remove.length, "concept")} removed` : "",
  ];
  return parts.filter(Boolean).join(", ");
}
