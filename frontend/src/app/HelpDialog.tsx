import { useStore } from "@/api/store";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { CheckField, FormButtons } from "@/components/fields";
import { pageShortcuts } from "@/components/page-shortcuts";
import { areShortcutsOn, switchShortcuts } from "@/components/shortcuts";
import styles from "./help.module.css";
import { PLACES } from "./places";

export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const isOn = useStore(areShortcutsOn);
  const ofPage = useStore(pageShortcuts);
  return (
    <Dialog title="Shortcuts" isOpen={isOpen} onClose={onClose} isWide>
      <ul className={styles.list}>
        <Shortcut label="This list" keys={["?"]} />
        <Shortcut label="Close what is open" keys={["Esc"]} />
        {PLACES.map(({ label, letter }) => (
          <Shortcut key={letter} label={label} keys={["g", letter]} />
        ))}
      </ul>
      {ofPage.length > 0 && (
        <>
          <h3>On this page</h3>
          <ul className={styles.list}>
            {ofPage.map(({ label, keys: [key = ""] }) => (
              <Shortcut key={label} label={label} keys={[key.replace("Escape", "Esc")]} />
            ))}
          </ul>
        </>
      )}
      <CheckField label="Single keys are shortcuts" isSelected={isOn} onChange={switchShortcuts} />
      <FormButtons>
        <Button onPress={onClose} autoFocus>
          Close
        </Button>
      </FormButtons>
    </Dialog>
  );
}

function Shortcut({ label, keys }: { label: string; keys: readonly string[] }) {
  return (
    <li>
      <span>{label}</span>
      <span className={styles.keys}>
        {keys.map((key, place) => (
          <kbd key={place}>{key}</kbd>
        ))}
      </span>
    </li>
  );
}
