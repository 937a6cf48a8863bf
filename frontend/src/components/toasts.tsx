// Short messages about what was done or refused. They are read out, and go by themselves unless they say what went wrong.
import { X } from "lucide-react";
import { explainError } from "@/api/problem";
import { createStore, useStore } from "@/api/store";
import { Button } from "./Button";
import styles from "./toast.module.css";

interface Toast {
  id: number;
  text: string;
  hint: string;
  isBad: boolean;
}

const MOST = 4;
const STAYS_MS = 6_000;

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

function add(toast: Omit<Toast, "id">): number {
  lastId += 1;
  toasts.set([...toasts.get(), { ...toast, id: lastId }].slice(-MOST));
  return lastId;
}

function remove(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

export function tell(text: string): void {
  const id = add({ text, hint: "", isBad: false });
  setTimeout(() => remove(id), STAYS_MS);
}

export function tellError(error: unknown): void {
  const { detail, hint } = explainError(error);
  add({ text: detail, hint, isBad: true });
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className={styles.region} role="status" aria-live="polite" aria-label="Messages">
      {shown.map(({ id, text, hint, isBad }) => (
        <div key={id} className={`${styles.toast} ${isBad ? styles.bad : ""}`}>
          <div className={styles.text}>
            <p>{text}</p>
            {hint && <p className={styles.hint}>{hint}</p>}
          </div>
          <Button look="quiet" isSmall aria-label="Close the message" onPress={() => remove(id)}>
            <X size={16} aria-hidden />
          </Button>
        </div>
      ))}
    </div>
  );
}
