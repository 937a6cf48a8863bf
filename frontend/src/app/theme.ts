// Light, dark, or what the system says. public/theme.js applies the choice before anything is drawn.
import { createStore } from "@/api/store";

export type Theme = "system" | "light" | "dark";

const KEY = "primer.theme";

function read(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export const theme = createStore<Theme>(read());

export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // Storage is switched off: the choice holds until the page is closed.
  }
}
