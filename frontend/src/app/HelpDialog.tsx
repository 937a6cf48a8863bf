import { useStore } from "@/api/store";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { CheckField, FormButtons } from "@/components/fields";
import styles from "./help.module.css";
import { PLACES } from "./places";
import { areShortcutsOn, switchShortcuts } from "@/components/shortcuts";

export function HelpDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const isOn = useStore(areShortcutsOn);
  return (
    <Dialog title="Shortcuts" isOpen={isOpen} onClose={onClose} isWide>
      <ul className={styles.list}>
        <Shortcut label="This list" keys={["?"]} />
        <Shortcut label="Close what is open" keys={["Esc"]} />
        {PLACES.map(({ label, letter }) => (
          <Shortcut key={letter} label={label} keys={["g", letter]} />
        ))}
      </ul>
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
