import { Link, useLocation } from "wouter";
import type { Funnel, JobDetail } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { useMeasureUndecided } from "@/api/what-if";
import { Button } from "@/components/Button";
import { Section } from "@/components/Page";
import { tell, tellError } from "@/components/toasts";
import { plural } from "@/words/numbers";
import { describeStage } from "@/words/terms";
import styles from "./thresholds.module.css";

interface UndecidedProps {
  job: JobDetail;
  counts: Funnel;
  /** Null while the thresholds are of no published version. */
  profileId: number | null;
}

/** Documents that cannot be decided before something more is measured, and the way to have it measured. */
export function Undecided({ job, counts, profileId }: UndecidedProps) {
  const [, go] = useLocation();
  const measure = useMeasureUndecided(job.kind === "curate" ? job.id : (job.base_job_id ?? job.id));
  const mayStart = useIsAllowed("jobs");
  const { undecided } = counts.documents;
  if (undecided === 0) return null;
  const missing = Object.entries(counts.undecided_for)
    .filter(([, count]) => count > 0)
    .map(([stage, count]) => `${describeStage(stage).label.toLowerCase()} of ${plural(count, "document")}`);
  return (
    <Section
      title={`${plural(undecided, "document")} undecided`}
      about={`What was not measured and would decide: ${missing.join(", ")}.`}
      actions={
        mayStart && (
          <Button
            isDisabled={profileId === null || measure.isPending}
            onPress={() =>
              profileId !== null &&
              measure.mutate(profileId, {
                onSuccess: (started) => {
                  tell(`Job ${started.id} measures what is missing.`);
                  go(`/jobs/${started.id}`);
                },
                onError: tellError,
              })
            }
          >
            Measure them
          </Button>
        )
      }
    >
      {profileId === null ? (
        <p className={styles.muted}>They can be measured once the thresholds are saved as a version.</p>
      ) : (
        <p>
          <Link href={`/documents/${job.id}?outcome=undecided&profile=${profileId}`}>Read them</Link>
        </p>
      )}
    </Section>
  );
}
