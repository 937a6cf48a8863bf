// Single keys of the page that is shown. The list of shortcuts tells them; keys that lead elsewhere come first.
import { useEffect, useLayoutEffect, useRef } from "react";
import { createStore, useStore } from "@/api/store";
import { areShortcutsOn, createReader, isWritingInto } from "./shortcuts";

export interface PageShortcut {
  /** As `KeyboardEvent.key` has them; the first is shown. */
  keys: readonly string[];
  label: string;
  run: () => void;
}

export const pageShortcuts = createStore<readonly PageShortcut[]>([]);

export function usePageShortcuts(shortcuts: readonly PageShortcut[]): void {
  const isOn = useStore(areShortcutsOn);
  const current = useRef(shortcuts);
  useLayoutEffect(() => {
    current.current = shortcuts;
  });
  const labels = shortcuts.map(({ label }) => label).join("\n");
  useEffect(() => {
    pageShortcuts.set(current.current);
    return () => pageShortcuts.set([]);
  }, [labels]);
  useEffect(() => {
    if (!isOn) return undefined;
    const read = createReader();
    function note(event: KeyboardEvent) {
      const isWriting = isWritingInto(event.target) || document.querySelector("[role=dialog]") !== null;
      const { key, ctrlKey, metaKey, altKey, timeStamp: at } = event;
      const meaning = read({ key, ctrlKey, metaKey, altKey, isWriting, at });
      if (meaning || isWriting || ctrlKey || metaKey || altKey || event.defaultPrevented) return;
      if (belongsToFocus(key, event.target)) return;
      const shortcut = current.current.find(({ keys }) => keys.includes(key));
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    }
    window.addEventListener("keydown", note);
    return () => window.removeEventListener("keydown", note);
  }, [isOn]);
}

/** Keys that press or scroll what is focused do just that. */
function belongsToFocus(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (key === "Enter" || key === " ") return target.closest("button, a") !== null;
  return key.startsWith("Arrow") && target.closest("[tabindex='0']") !== null;
}
