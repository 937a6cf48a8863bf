// A job's options in plain words; what is as usual is left unsaid.
import type { JobOptions } from "@/api/jobs";
import type { Fact } from "@/components/Figures";
import { formatCount, formatShare, plural } from "@/words/numbers";
import { CONTROL_MATCHES } from "@/words/terms";

export function describeOptions(options: JobOptions): Fact[] {
  const { limit, sample_share: share } = options;
  const amount =
    typeof limit === "number"
      ? `the first ${plural(limit, "document")}`
      : typeof share === "number"
        ? `${formatShare(share, 1)} of the parts, drawn at random`
        : "everything";
  const facts: Fact[] = [
    { label: "How much", value: amount },
    { label: "Careful grader", value: options.has_encoder ? "used" : "left out" },
    {
      label: "Control",
      value: CONTROL_MATCHES[options.control_match].label.toLowerCase(),
      meaning: CONTROL_MATCHES[options.control_match].meaning,
    },
  ];
  if (typeof options.token_budget === "number")
    facts.push({ label: "Most tokens", value: formatCount(options.token_budget) });
  if (options.validation_share > 0) {
    facts.push({ label: "Held back for validation", value: formatShare(options.validation_share, 1) });
  }
  return facts;
}
