import type { VersionSummary } from "@/api/profiles";
import type { StateTerm } from "@/words/terms";

export const VERSION_STATES: Record<VersionSummary["state"], StateTerm> = {
  draft: { label: "Draft", tone: "warning", meaning: "Can be changed; jobs cannot use it yet." },
  published: { label: "Published", tone: "good", meaning: "Stays as it is for ever; jobs may use it." },
  discarded: { label: "Discarded", tone: "neutral", meaning: "Thrown away." },
};
