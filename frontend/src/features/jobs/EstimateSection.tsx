import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { estimateQuery, recentJobsQuery, type Estimate, type JobOptions, type Tried } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import type { Source } from "@/api/sources";
import { Figures } from "@/components/Figures";
import { Section } from "@/components/Page";
import { Loading } from "@/components/states";
import { ProblemMessage } from "@/components/ProblemMessage";
import { formatCount, formatDuration, formatShare, formatShortCount, plural } from "@/words/numbers";
import { estimateDocuments, estimateSeconds, estimateTokens, roundRoughly } from "./estimate";
import styles from "./jobs.module.css";

interface EstimateSectionProps {
  source: Source;
  profileId: number | null;
  options: JobOptions | null;
}

const TYPING_MS = 700;

/** What to expect of a job: some documents are tried as soon as source and profile are chosen. */
export function EstimateSection({ source, profileId, options }: EstimateSectionProps) {
  const mayTry = useIsAllowed("jobs");
  const wanted: Tried = {
    sourceId: source.id,
    profileId: profileId ?? 0,
    limit: options?.limit ?? null,
    hasEncoder: options?.has_encoder ?? true,
  };
  const tried = useSettled(wanted);
  const isReady = profileId !== null && options !== null && mayTry;
  const estimate = useQuery({ ...estimateQuery(tried), enabled: isReady });
  if (!options || profileId === null) return null;
  return (
    <Section
      title="What to expect"
      about="Judged by a trial of some documents from all over the source. Nothing of it is kept."
    >
      {!mayTry ? (
        <p className={styles.muted}>Your role does not include jobs, so that none is tried.</p>
      ) : estimate.data && isSame(tried, wanted) ? (
        <Expected source={source} options={options} found={estimate.data} />
      ) : estimate.error && isSame(tried, wanted) ? (
        <ProblemMessage error={estimate.error} onRetry={() => estimate.refetch()} />
      ) : (
        <div role="status">
          <p className={styles.muted}>
            Trying up to 200 documents now: a few seconds, at most half a minute. You need not wait for it.
          </p>
          <Loading what="the estimate" />
        </div>
      )}
    </Section>
  );
}

function Expected({ source, options, found }: { source: Source; options: JobOptions; found: Estimate }) {
  const jobs = useQuery(recentJobsQuery);
  const documents = estimateDocuments({
    rowCount: source.row_count,
    limit: options.limit ?? null,
    share: options.sample_share ?? null,
  });
  const tokens = estimateTokens(found, options.sample_share ?? null);
  const seconds = estimateSeconds(found, documents, jobs.data?.items ?? [], options);
  if (found.tried === 0) {
    return (
      <>
        <p>No document could be tried.</p>
        <Notes found={found} />
      </>
    );
  }
  return (
    <>
      <Figures
        figures={[
          {
            label: "Documents to read",
            value: documents === null ? "unknown" : formatShortCount(documents),
            exact: documents === null ? undefined : formatCount(documents),
            meaning: "From the counts that the look at the source found. Some formats tell only when they are read.",
          },
          {
            label: "Kept",
            value: formatShare(found.kept, found.tried),
            meaning: `${describeInterval(found)} Of ${plural(found.tried, "document")} that were tried, ${formatCount(found.kept)} would be kept.`,
          },
          {
            label: "Tokens kept",
            value: tokens === null ? "unknown" : `≈ ${formatShortCount(roundRoughly(tokens))}`,
            unit: tokens === null ? undefined : "tokens",
            meaning:
              "What the tried documents kept, for as many documents as the job reads. A token is about ¾ of a word.",
          },
          {
            label: "Time",
            value: seconds === null ? "unknown" : `≈ ${formatDuration(seconds)}`,
            meaning:
              found.processes > 0
                ? `At the trial's own speed, with the ${plural(found.processes, "process", "processes")} that measure now, if nothing else runs.`
                : "No worker answers now, so that this is judged by earlier jobs, if there are any.",
          },
        ]}
      />
      <p className={styles.muted}>{describeTrial(found)}</p>
      <Notes found={found} />
    </>
  );
}

function Notes({ found }: { found: Estimate }) {
  if (found.notes.length === 0) return null;
  return (
    <ul className={styles.errors}>
      {found.notes.map((note) => (
        <li key={note} dir="auto">
          {note}
        </li>
      ))}
    </ul>
  );
}

function describeInterval({ kept_share_low, kept_share_high }: Estimate): string {
  if (kept_share_low === null || kept_share_high === null) return "";
  return `Of the whole source, 19 times out of 20, between ${formatShare(kept_share_low, 1)} and ${formatShare(kept_share_high, 1)}.`;
}

function describeTrial({ tried, seconds_tried, is_cut_short, unreadable, too_long, undecided }: Estimate): string {
  const facts = [
    `${plural(tried, "document")} tried in ${formatDuration(seconds_tried)}${is_cut_short ? ", then the time was up" : ""}.`,
    unreadable > 0 ? `${formatCount(unreadable)} of them could not be read.` : "",
    undecided > 0 ? `${formatCount(undecided)} of them stay undecided.` : "",
    too_long > 0 ? `${plural(too_long, "very long document")} passed over here; the job reads them.` : "",
  ];
  return facts.filter(Boolean).join(" ");
}

/** What was chosen, once it has stayed the same for a moment: no trial for every key that is pressed. */
function useSettled(wanted: Tried): Tried {
  const [settled, setSettled] = useState(wanted);
  const { sourceId, profileId, limit, hasEncoder } = wanted;
  useEffect(() => {
    const timer = setTimeout(() => setSettled({ sourceId, profileId, limit, hasEncoder }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [sourceId, profileId, limit, hasEncoder]);
  return settled;
}

function isSame(one: Tried, other: Tried): boolean {
  return (
    one.sourceId === other.sourceId &&
    one.profileId === other.profileId &&
    one.limit === other.limit &&
    one.hasEncoder === other.hasEncoder
  );
}
