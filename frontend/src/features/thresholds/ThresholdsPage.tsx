import { useQuery } from "@tanstack/react-query";
import { Redirect, useLocation, useParams, useSearchParams } from "wouter";
import { jobQuery, type JobDetail } from "@/api/jobs";
import { versionQuery, type VersionSummary } from "@/api/profiles";
import { asContent } from "@/api/profile-contents";
import { JobPicker, NewestJob } from "@/components/JobPicker";
import { Page } from "@/components/Page";
import { Loaded } from "@/components/states";
import { usePublishedVersions, VersionPicker } from "@/components/VersionPicker";
import { readId } from "@/words/ids";
import { Bench } from "./Bench";
import { readMoves, writeMoves, type Moves } from "./cuts";
import styles from "./thresholds.module.css";

const PURPOSE = "Move a threshold and see at once what would be kept, over every document of a job.";

export default function ThresholdsPage() {
  const { job } = useParams<{ job?: string }>();
  const jobId = readId(job);
  return jobId !== null ? (
    <JobThresholds key={jobId} jobId={jobId} />
  ) : (
    <Page title="Thresholds" purpose={PURPOSE}>
      <NewestJob>{(newest) => <Redirect to={`/thresholds/${newest}`} replace />}</NewestJob>
    </Page>
  );
}

function JobThresholds({ jobId }: { jobId: number }) {
  const [, go] = useLocation();
  const job = useQuery(jobQuery(jobId));
  return (
    <Page
      title="Thresholds"
      purpose={PURPOSE}
      actions={<JobPicker jobId={jobId} onChange={(id) => go(`/thresholds/${id}`)} />}
    >
      <Loaded query={job} what="the job">
        {(found) => <Choices job={found} />}
      </Loaded>
    </Page>
  );
}

/** Two profiles: what is compared with, and what is moved. Both, and every move, are in the page's address. */
function Choices({ job }: { job: JobDetail }) {
  const [address, setAddress] = useSearchParams();
  const versions = usePublishedVersions();
  const before = readId(address.get("before"));
  const from = readId(address.get("from"));
  const moves = readMoves(address.getAll("move"));

  function show(change: { before?: number | null; from?: number | null; moves?: Moves }) {
    const next = { before, from, moves, ...change };
    const written = new URLSearchParams();
    if (next.before !== null) written.set("before", String(next.before));
    if (next.from !== null) written.set("from", String(next.from));
    for (const move of writeMoves(next.moves)) written.append("move", move);
    setAddress(written, { replace: true });
  }

  const named = (id: number | null): Pick<VersionSummary, "name" | "version"> | undefined =>
    id === null ? job.profile : versions.find((version) => version.id === id);
  const baseline = named(before);
  const moved = from === null ? baseline : named(from);
  return (
    <>
      <div className={styles.pickers}>
        <VersionPicker
          label="Compared with"
          own={`${job.profile.name} v${job.profile.version}, the job's own`}
          value={before}
          onChange={(id) => show({ before: id })}
          isLabelShown
        />
        <VersionPicker
          label="Begin from"
          own="The same"
          value={from}
          onChange={(id) => show({ from: id, moves: new Map() })}
          isLabelShown
        />
      </div>
      {baseline && moved && (
        <Contents
          key={`${baseline.name} ${baseline.version} ${moved.name} ${moved.version}`}
          job={job}
          baseline={baseline}
          moved={moved}
          ids={{ before, from: from ?? before }}
          moves={moves}
          versions={versions}
          onMoves={(next) => show({ moves: next })}
          onSaved={(id) => show({ from: id, moves: new Map() })}
        />
      )}
    </>
  );
}

interface ContentsProps {
  job: JobDetail;
  baseline: Pick<VersionSummary, "name" | "version">;
  moved: Pick<VersionSummary, "name" | "version">;
  /** Of the versions; null: the job's own. */
  ids: { before: number | null; from: number | null };
  moves: Moves;
  versions: readonly VersionSummary[];
  onMoves: (moves: Moves) => void;
  onSaved: (id: number) => void;
}

function Contents({ baseline, moved, ...props }: ContentsProps) {
  const before = useQuery(versionQuery(baseline.name, baseline.version));
  const from = useQuery(versionQuery(moved.name, moved.version));
  return (
    <Loaded query={before} what="the profile">
      {(first) => (
        <Loaded query={from} what="the profile">
          {(second) => (
            <Bench
              {...props}
              before={asContent(first.data.content)}
              from={asContent(second.data.content)}
              fromName={second.data.author === "system" ? "" : second.data.name}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
