import type { ReactNode } from "react";
import { Dialog as AriaDialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal, ModalOverlay } from "react-aria-components/Modal";
import { Button } from "./Button";
import styles from "./dialog.module.css";
import { FormButtons } from "./fields";
import { ProblemMessage } from "./ProblemMessage";

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  /** Stays until it is answered, above everything else. */
  isUrgent?: boolean;
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, isWide, isUrgent, children }: DialogProps) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isUrgent}
      isKeyboardDismissDisabled={isUrgent}
      className={`${styles.overlay} ${isUrgent ? styles.urgent : ""}`}
    >
      <Modal className={`${styles.modal} ${isWide ? styles.wide : ""}`}>
        <AriaDialog className={styles.dialog}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ConfirmDialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  onConfirm: () => void;
  confirm: string;
  isDangerous?: boolean;
  isPending?: boolean;
  error?: unknown;
  children: ReactNode;
}

/** Asks before what cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, isOpen, onClose, onConfirm, confirm, isDangerous, isPending, error, children } = props;
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div>{children}</div>
      {error ? <ProblemMessage error={error} /> : null}
      <FormButtons>
        <Button look={isDangerous ? "danger" : "primary"} onPress={onConfirm} isDisabled={isPending} autoFocus>
          {confirm}
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Dialog>
  );
}
