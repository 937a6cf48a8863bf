// The colours of the page for what is drawn on a canvas, which knows no style sheet.
import { createStore } from "@/api/store";

interface ChartTheme {
  accent: string;
  line: string;
  muted: string;
  font: string;
  kept: string;
  excluded: string;
  undecided: string;
}

function read(): ChartTheme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    accent: colour("--accent"),
    line: colour("--line"),
    muted: colour("--muted"),
    font: `13px ${colour("--font")}`,
    kept: colour("--kept"),
    excluded: colour("--excluded"),
    undecided: colour("--undecided"),
  };
}

export const chartTheme = createStore(read());

const update = () => chartTheme.set(read());
new MutationObserver(update).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
