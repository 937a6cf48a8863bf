import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { jobQuery, readFunnel, recentJobsQuery, type JobOptions } from "@/api/jobs";
import type { Source } from "@/api/sources";
import { Figures } from "@/components/Figures";
import { Section } from "@/components/Page";
import { formatCount, formatDuration, formatShortCount } from "@/words/numbers";
import { estimateDocuments, estimateRate } from "./estimate";
import styles from "./jobs.module.css";

interface EstimateSectionProps {
  source: Source;
  profileId: number | null;
  options: JobOptions | null;
}

export function EstimateSection({ source, profileId, options }: EstimateSectionProps) {
  const jobs = useQuery(recentJobsQuery);
  const past = (jobs.data?.items ?? []).filter(({ state, kind }) => state === "succeeded" && kind === "curate");
  const alike = past.find((job) => job.source.id === source.id && job.profile.id === profileId);
  const earlier = useQuery({ ...jobQuery(alike?.id ?? 0), enabled: alike !== undefined });
  if (!options) return null;
  const documents = estimateDocuments({
    rowCount: source.row_count,
    limit: options.limit ?? null,
    share: options.sample_share ?? null,
    hasEncoder: options.has_encoder,
  });
  const rate = estimateRate(past, options.has_encoder);
  const funnel = earlier.data && alike ? readFunnel(earlier.data) : null;
  const tokens =
    funnel && documents !== null && earlier.data && earlier.data.documents_done > 0
      ? (funnel.tokens.kept / earlier.data.documents_done) * documents
      : null;
  return (
    <Section title="What to expect">
      <Figures
        figures={[
          {
            label: "Documents to read",
            value: documents === null ? "unknown" : formatShortCount(documents),
            exact: documents === null ? undefined : formatCount(documents),
            meaning: "From the counts that the look at the source found. Some formats tell only when they are read.",
          },
          {
            label: "Time",
            value: documents !== null && rate !== null ? formatDuration(documents / rate) : "unknown",
            meaning: "At the speed of earlier jobs that used the same graders.",
          },
          {
            label: "Tokens kept",
            value: tokens === null ? "unknown" : formatShortCount(Math.round(tokens)),
            meaning: "As an earlier job with this source and profile kept them, for as many documents.",
          },
        ]}
      />
      <p className={styles.muted}>
        {rate === null
          ? "No earlier job tells how fast this goes: a trial will. "
          : `Earlier jobs read about ${formatShortCount(Math.max(1, Math.round(rate * 60)))} documents a minute. `}
        {alike ? (
          <>
            What is kept is judged by <Link href={`/jobs/${alike.id}`}>job {alike.id}</Link>.
          </>
        ) : (
          "What is kept cannot be said before this source has been tried with this profile."
        )}
      </p>
    </Section>
  );
}
