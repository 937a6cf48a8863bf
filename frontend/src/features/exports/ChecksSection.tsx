import { Link } from "wouter";
import type { ExportCheck, ExportDetail } from "@/api/exports";
import { isOver } from "@/api/jobs";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { StateBadge } from "@/components/StateBadge";
import { describeCheck, describeProblem, describeResult } from "./checks";
import styles from "./exports.module.css";

/** What checks found, in words, the newest first. */
export function ChecksSection({ found }: { found: ExportDetail }) {
  return (
    <Section
      title="Checks"
      about="A check compares every file with the manifest, loads it as training does, and measures and decides some documents once more."
    >
      {found.checks.length > 0 ? (
        <ul className={styles.checks} aria-label="Checks">
          {found.checks.map((check) => (
            <CheckItem key={check.job_id} check={check} />
          ))}
        </ul>
      ) : (
        <p className={styles.muted}>
          {found.kind === "first"
            ? "It was checked when it was written. Nobody has asked for another check."
            : "There was none yet."}
        </p>
      )}
    </Section>
  );
}

function CheckItem({ check }: { check: ExportCheck }) {
  const problems = check.problems ?? [];
  const unnamed = (check.problem_count ?? 0) - problems.length;
  return (
    <li>
      <div className={styles.checkHead}>
        <StateBadge term={describeCheck(check)} />
        <span className={styles.muted}>
          {check.checked_at ? (
            <Moment at={check.checked_at} />
          ) : (
            <Link href={`/jobs/${check.job_id}`}>job {check.job_id}</Link>
          )}
        </span>
      </div>
      <p role={isOver(check) ? undefined : "status"}>{describeResult(check)}</p>
      {problems.length > 0 && (
        <ul className={styles.problems}>
          {problems.map((problem, place) => (
            <li key={place}>{describeProblem(problem)}</li>
          ))}
          {unnamed > 0 && <li>and {unnamed} more</li>}
        </ul>
      )}
    </li>
  );
}
