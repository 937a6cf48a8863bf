import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { ToggleButtonGroup } from "react-aria-components/ToggleButtonGroup";
import { Link, useParams } from "wouter";
import { isOver, isReadable, jobQuery, readFunnel, readReport, type JobDetail } from "@/api/jobs";
import { ButtonLink } from "@/components/Button";
import { Facts, Figures } from "@/components/Figures";
import { FunnelPicture } from "@/components/FunnelPicture";
import { JobProgress } from "@/components/JobProgress";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
  formatShare,
  formatShortCount,
  secondsBetween,
} from "@/words/numbers";
import { JOB_KINDS, JOB_STATES } from "@/words/terms";
import { FailedParts } from "./FailedParts";
import { JobActions } from "./JobActions";
import styles from "./jobs.module.css";
import { describeOptions } from "./options";
import { PartsGrid } from "./PartsGrid";
import { ReportSection } from "./ReportSection";

export default function JobPage() {
  const { id } = useParams<{ id: string }>();
  const job = useQuery(jobQuery(Number(id)));
  const shown = job.data;
  return (
    <Page
      title={shown ? `Job ${shown.id}: ${shown.source.name}` : `Job ${id}`}
      purpose={shown ? JOB_KINDS[shown.kind].meaning : "One request to measure and curate a source."}
      badge={shown && <StateBadge term={JOB_STATES[shown.state]} />}
      back={{ href: "/jobs", label: "Jobs" }}
      actions={
        shown && (
          <>
            {isReadable(shown) && <ButtonLink href={`/documents/${shown.id}`}>Read its documents</ButtonLink>}
            {isReadable(shown) && <ButtonLink href={`/thresholds/${shown.id}`}>Move its thresholds</ButtonLink>}
            <JobActions job={shown} />
          </>
        )
      }
    >
      <Loaded query={job} what="the job">
        {(found) => <JobContent job={found} />}
      </Loaded>
    </Page>
  );
}

function JobContent({ job }: { job: JobDetail }) {
  const report = readReport(job);
  return (
    <>
      {job.failed_tasks > 0 && <FailedParts job={job} />}
      {job.error && job.failed_tasks === 0 && (
        <div role="alert" aria-label="Why the job failed">
          <ul className={styles.errors}>
            <li>
              <p>{job.error}</p>
              {job.hint && <p>{job.hint}</p>}
            </li>
          </ul>
        </div>
      )}
      <ProgressSection job={job} />
      <FunnelSection job={job} />
      <PartsGrid job={job} />
      <div className={styles.two}>
        {report && <ReportSection report={report} />}
        <Section title="What was asked">
          <Facts facts={describeJob(job)} />
        </Section>
      </div>
    </>
  );
}

function ProgressSection({ job }: { job: JobDetail }) {
  const funnel = readFunnel(job);
  const took = job.started_at && job.finished_at ? secondsBetween(job.started_at, job.finished_at) : null;
  return (
    <Section title={isOver(job) ? "How it went" : "Progress"}>
      {!isOver(job) && <JobProgress job={job} />}
      <Figures
        figures={[
          {
            label: "Documents measured",
            value: formatShortCount(job.documents_done),
            exact: formatCount(job.documents_done),
            meaning: "Documents for which everything that the profile asks has been measured.",
          },
          {
            label: "Documents kept",
            value: formatShortCount(funnel?.documents.kept ?? 0),
            unit: funnel ? formatShare(funnel.documents.kept, job.documents_done) : undefined,
            meaning: "Documents that passed every stage of the profile so far, and their share of those measured.",
          },
          {
            label: "Tokens kept",
            value: formatShortCount(job.tokens_kept ?? 0),
            exact: formatCount(job.tokens_kept ?? 0),
            meaning: "Pieces of words, as language models count text, in the documents that are kept.",
          },
          isOver(job)
            ? {
                label: "Took",
                value: took === null ? "–" : formatDuration(took),
                meaning: "From the first worker that took it up to its end.",
              }
            : {
                label: "Speed",
                value: job.documents_per_second === null ? "–" : formatRate(job.documents_per_second),
                meaning: "Documents over the last minute. Nothing is shown while no part has been finished lately.",
              },
          {
            label: "Parts done",
            value: formatCount(job.slices_done),
            unit: `of ${formatCount(job.slices_total)}${job.is_total_known ? "" : " or more"}`,
            meaning: "A part is a run of documents that one worker measures at a time.",
          },
        ]}
      />
    </Section>
  );
}

function FunnelSection({ job }: { job: JobDetail }) {
  const [unit, setUnit] = useState<"documents" | "tokens">("documents");
  const funnel = readFunnel(job);
  if (!funnel || job.documents_done === 0) return null;
  return (
    <Section
      title="What each stage takes away"
      about="A document must pass every stage. Each stage is counted on what those before it let through; the order changes these counts, never what is kept."
      actions={
        <ToggleButtonGroup
          className={styles.toggle}
          aria-label="Counted in"
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[unit]}
          onSelectionChange={(keys) => setUnit(keys.has("tokens") ? "tokens" : "documents")}
        >
          <ToggleButton id="documents">Documents</ToggleButton>
          <ToggleButton id="tokens">Tokens</ToggleButton>
        </ToggleButtonGroup>
      }
    >
      <FunnelPicture funnel={funnel} unit={unit} />
    </Section>
  );
}

function describeJob(job: JobDetail) {
  return [
    { label: "Source", value: <Link href={`/sources/${job.source.id}`}>{job.source.name}</Link> },
    {
      label: "Profile",
      value: (
        <Link href={`/profiles/${job.profile.name}/${job.profile.version}`}>
          {job.profile.name} v{job.profile.version}
        </Link>
      ),
    },
    ...describeOptions(job.options),
    ...(job.base_job_id === null
      ? []
      : [{ label: "After", value: <Link href={`/jobs/${job.base_job_id}`}>job {job.base_job_id}</Link> }]),
    { label: "Started by", value: job.created_by },
    { label: "Started", value: <Moment at={job.created_at} /> },
    ...(job.finished_at ? [{ label: "Ended", value: <Moment at={job.finished_at} /> }] : []),
    { label: "Read", value: formatBytes(job.bytes_done), meaning: "Bytes of text in the parts that are done." },
  ];
}
