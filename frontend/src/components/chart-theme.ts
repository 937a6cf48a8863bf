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

// A colour is stated once for both themes: only an element that wears it tells which of the two holds.
const probe = document.createElement("span");
probe.hidden = true;
document.body.append(probe);

function colour(name: string): string {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

function read(): ChartTheme {
  return {
    accent: colour("--accent"),
    line: colour("--line"),
    muted: colour("--muted"),
    font: `13px ${getComputedStyle(document.documentElement).getPropertyValue("--font").trim()}`,
    kept: colour("--kept"),
    excluded: colour("--excluded"),
    undecided: colour("--undecided"),
  };
}

export const chartTheme = createStore(read());

const update = () => chartTheme.set(read());
new MutationObserver(update).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
