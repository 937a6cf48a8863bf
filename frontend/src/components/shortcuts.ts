// Keys that lead somewhere: `?` for the list, `g` and a letter for a page. Never while somebody is writing, and not at all
// for who switched them off.
import { createStore } from "@/api/store";

const KEY = "primer.shortcuts";
const SECOND_KEY_MS = 1_500;

function read(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

export const areShortcutsOn = createStore(read());

export function switchShortcuts(isOn: boolean): void {
  areShortcutsOn.set(isOn);
  try {
    localStorage.setItem(KEY, isOn ? "on" : "off");
  } catch {
    // Storage is switched off: the choice holds until the page is closed.
  }
}

export interface Keystroke {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isWriting: boolean;
  at: number;
}

export type Meaning = { kind: "help" } | { kind: "go"; letter: string } | undefined;

/** Puts keystrokes together: what the one just pressed means after those before it. */
export function createReader(): (stroke: Keystroke) => Meaning {
  let goAt = -Infinity;
  return ({ key, ctrlKey, metaKey, altKey, isWriting, at }) => {
    const isGoing = at - goAt <= SECOND_KEY_MS;
    goAt = -Infinity;
    if (ctrlKey || metaKey || altKey || isWriting) return undefined;
    if (isGoing && /^[a-z]$/.test(key)) return { kind: "go", letter: key };
    if (key === "g") goAt = at;
    return key === "?" ? { kind: "help" } : undefined;
  };
}

export function isWritingInto(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false; // it takes no letters
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.role === "listbox")
  );
}
