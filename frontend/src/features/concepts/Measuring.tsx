import { useQuery } from "@tanstack/react-query";
import { ProgressBar } from "react-aria-components/ProgressBar";
import { Link } from "wouter";
import { isBeingMeasured, planQuery, useMeasureConcepts, type MeasuredCatalogue } from "@/api/concepts";
import { isOver } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { EmptyState } from "@/components/states";
import { tell, tellError } from "@/components/toasts";
import { formatCount, plural } from "@/words/numbers";
import { JOB_STATES } from "@/words/terms";
import styles from "./concepts.module.css";
import { OPERATORS_MEASURE } from "./roles";

interface MeasuringProps {
  /** The job whose documents are shown, and the one that measured them. */
  jobId: number;
  baseId: number;
  version: number;
  /** What there is of this version; undefined: nothing. */
  found: MeasuredCatalogue | undefined;
}

/** Nothing was looked for yet: what measuring takes, the way to start it, and how far it is. */
export function NotMeasured(props: MeasuringProps) {
  const { found } = props;
  const isRunning = found !== undefined && isBeingMeasured(found);
  return (
    <EmptyState
      title={isRunning ? "Concepts are being looked for" : "Concepts are not measured in this job yet"}
      action={<Start {...props} label="Measure concepts in this run" />}
    >
      <p>
        {isRunning
          ? "Every document is read once. This page goes on by itself."
          : "Every document is read once, and what it mentions of the catalogue is kept with its other measurements: then this page says what is excluded for each concept, and what leaks into kept text."}
      </p>
      <Failure found={found} />
    </EmptyState>
  );
}

/** A newer version is not measured: what of it must be looked for. */
export function NewerVersion({ shown, ...props }: MeasuringProps & { shown: number }) {
  const plan = useQuery(planQuery(props.jobId, props.version));
  return (
    <div className={styles.newer} role="status" aria-label="A newer version of the catalogue">
      <p>
        These numbers are of version {shown} of the catalogue; version {props.version} is not measured in this job.{" "}
        {plan.data && describePlan(plan.data.concepts.length, plan.data.base_layer !== null)}
      </p>
      <Failure found={props.found} />
      <Start {...props} label={`Measure version ${props.version}`} />
    </div>
  );
}

function describePlan(concepts: number, isBasedOn: boolean): string {
  if (concepts === 0) return "Nothing must be looked for: what it finds is known and is copied.";
  const what = plural(concepts, "concept");
  return isBasedOn
    ? `Only ${what} must be looked for in every document; the others are copied.`
    : `Its ${what} must be looked for in every document.`;
}

function Failure({ found }: { found: MeasuredCatalogue | undefined }) {
  const job = found?.job;
  if (!job || found.is_whole || !isOver(job)) return null;
  return (
    <p className={styles.failure} role="alert">
      <Link href={`/jobs/${job.id}`}>Job {job.id}</Link> did not finish ({JOB_STATES[job.state].label.toLowerCase()}).{" "}
      {job.error ?? ""} What it has measured stays: started again, it carries on.
    </p>
  );
}

function Start({ jobId, baseId, version, found, label }: MeasuringProps & { label: string }) {
  const mayMeasure = useIsAllowed("jobs");
  const measure = useMeasureConcepts(baseId);
  if (found && isBeingMeasured(found)) return <PartsProgress found={found} />;
  if (!mayMeasure) return <p className={styles.muted}>{OPERATORS_MEASURE}</p>;
  return (
    <Button
      look="primary"
      isDisabled={measure.isPending}
      onPress={() =>
        measure.mutate(version, {
          onSuccess: (job) => tell(`Job ${job.id} looks for concepts in the documents of job ${jobId}.`),
          onError: tellError,
        })
      }
    >
      {measure.isPending ? "Asking…" : label}
    </Button>
  );
}

function PartsProgress({ found }: { found: MeasuredCatalogue }) {
  const { slices_measured: done, slices: total, job } = found;
  const share = total > 0 ? (100 * done) / total : 0;
  const text = `${formatCount(done)} of ${plural(total, "part")}`;
  return (
    <ProgressBar className={styles.progress} aria-label="How much is measured" value={share} valueLabel={text}>
      <div className={styles.progressLine}>
        <span>{text} measured</span>
        {job && <Link href={`/jobs/${job.id}`}>job {job.id}</Link>}
      </div>
      <svg className={styles.track} viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden>
        <rect width={share} height="1" />
      </svg>
    </ProgressBar>
  );
}
