import type { Report } from "@/api/jobs";
import { Facts, type Fact } from "@/components/Figures";
import { Section } from "@/components/Page";
import { formatCount, plural } from "@/words/numbers";

/** What the finished job says of itself. */
export function ReportSection({ report }: { report: Report }) {
  const facts: Fact[] = [];
  if (report.export) {
    facts.push(
      {
        label: "Export",
        value: <code>{report.export.folder}</code>,
        meaning: "The folder, on the machine of the service.",
      },
      {
        label: "Curriculum",
        value: `${plural(report.export.curriculum_rows, "document")}, ${plural(report.export.curriculum_tokens, "token")}`,
        meaning: "What is kept.",
      },
      {
        label: "Control",
        value: `${plural(report.export.control_rows, "document")}, ${plural(report.export.control_tokens, "token")}`,
        meaning: "Unfiltered text from the same source, to compare a trained model with.",
      },
    );
  }
  if (report.statement) facts.push({ label: "Rules and models", value: report.statement });
  if (report.row_errors) {
    facts.push({
      label: "Unreadable documents",
      value: formatCount(report.row_errors.count),
      meaning: "Rows of the source that could not be read. They are neither kept nor in the control.",
    });
  }
  if (report.shard_errors && report.shard_errors.length > 0) {
    facts.push({
      label: "Unreadable files",
      value: report.shard_errors.map(({ name, error }) => `${name ?? ""}: ${error ?? ""}`).join("; "),
    });
  }
  if (report.duplicate_ids && report.duplicate_ids.count > 0) {
    facts.push({ label: "Ids that occur twice", value: formatCount(report.duplicate_ids.count) });
  }
  return (
    <Section title="Report">
      <Facts facts={facts} />
    </Section>
  );
}
