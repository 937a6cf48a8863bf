import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./Button";
import { tell, tellError } from "./toasts";

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  text: string;
  /** What is copied, as in "Copy the lines". */
  what: string;
  /** The sign alone; the words are for screen readers and on hover. */
  isIcon?: boolean;
}

export function CopyButton({ text, what, isIcon }: CopyButtonProps) {
  const [isDone, setIsDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setIsDone(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isDone]);

  async function copy() {
    try {
      await copyText(text);
      setIsDone(true);
      if (isIcon) tell(`Copied ${what}.`);
    } catch (error) {
      tellError(error);
    }
  }

  const Icon = isDone ? Check : Copy;
  return (
    <Button isSmall look={isIcon ? "quiet" : "plain"} aria-label={`Copy ${what}`} onPress={() => void copy()}>
      <Icon size={15} aria-hidden />
      {!isIcon && (isDone ? "Copied" : "Copy")}
    </Button>
  );
}

/** Browsers keep their clipboard from pages of plain http, except of this machine: those copy what is selected. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
