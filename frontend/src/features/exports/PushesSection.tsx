import { Link } from "wouter";
import type { ExportDetail, ExportPush } from "@/api/exports";
import { CodeLines } from "@/components/CodeLines";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { JOB_STATES, type StateTerm } from "@/words/terms";
import styles from "./exports.module.css";

const SENDING: StateTerm = { label: "Being sent", tone: "busy", meaning: "A worker sends its files." };
const SENT: StateTerm = { label: "Published", tone: "good", meaning: "Every file is there." };

/** Where it was sent to, the newest first. */
export function PushesSection({ found }: { found: ExportDetail }) {
  if (found.pushes.length === 0) return null;
  return (
    <Section title="Published" about="Each line names the very state of the repository that holds these files.">
      <ul className={styles.checks} aria-label="Published">
        {found.pushes.map((push) => (
          <PushItem key={push.job_id} push={push} />
        ))}
      </ul>
    </Section>
  );
}

function PushItem({ push }: { push: ExportPush }) {
  return (
    <li>
      <div className={styles.checkHead}>
        <StateBadge term={describePush(push)} />
        <strong>{push.repo_id}</strong>
        <span className={styles.muted}>
          {push.private ? "private" : "public"}, branch {push.revision},{" "}
          {push.pushed_at ? (
            <Moment at={push.pushed_at} />
          ) : (
            <Link href={`/jobs/${push.job_id}`}>job {push.job_id}</Link>
          )}
        </span>
      </div>
      {push.error && <p className={styles.wrong}>{push.error}</p>}
      {push.url?.startsWith("https://") && (
        <a href={push.url} target="_blank" rel="noreferrer">
          {push.url}
        </a>
      )}
      {push.load && <CodeLines label="Python that loads it from there" what="the lines" lines={push.load} />}
    </li>
  );
}

function describePush({ state }: ExportPush): StateTerm {
  if (state === "succeeded") return SENT;
  return state === "running" ? SENDING : JOB_STATES[state];
}
