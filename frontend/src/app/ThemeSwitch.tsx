import { Monitor, Moon, Sun } from "lucide-react";
import { useStore } from "@/api/store";
import styles from "./layout.module.css";
import { chooseTheme, theme, type Theme } from "./theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const LABELS: Record<Theme, string> = { system: "System theme", light: "Light theme", dark: "Dark theme" };
const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function ThemeSwitch() {
  const chosen = useStore(theme);
  const Icon = ICONS[chosen];
  return (
    <button
      type="button"
      className={`${styles.place} ${styles.footButton}`}
      onClick={() => chooseTheme(NEXT[chosen])}
      title={`Change to: ${LABELS[NEXT[chosen]].toLowerCase()}`}
    >
      <Icon size={18} aria-hidden />
      {LABELS[chosen]}
    </button>
  );
}
