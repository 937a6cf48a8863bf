import { useState } from "react";
import { useLocation } from "wouter";
import { useChangeJob, useCloneJob, type JobChange, type JobDetail } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/Dialog";
import { tell, tellError } from "@/components/toasts";

const DONE: Record<JobChange, string> = {
  pause: "is paused: workers let go of it",
  resume: "goes on",
  cancel: "is being cancelled",
  retry: "tries its failed parts again",
};

export function JobActions({ job }: { job: JobDetail }) {
  const [isAsking, setIsAsking] = useState(false);
  const [, go] = useLocation();
  const change = useChangeJob(job.id);
  const clone = useCloneJob(job.id);
  if (!useIsAllowed("jobs")) return null;

  function ask(what: JobChange) {
    change.mutate(what, {
      onSuccess: () => tell(`Job ${job.id} ${DONE[what]}.`),
      onError: tellError,
      onSettled: () => setIsAsking(false),
    });
  }

  function startAgain() {
    clone.mutate(undefined, {
      onSuccess: (started) => {
        tell(`Job ${started.id} has been started like job ${job.id}.`);
        go(`/jobs/${started.id}`);
      },
      onError: tellError,
    });
  }

  const isActive = job.state === "queued" || job.state === "running";
  const mayRetry = job.failed_tasks > 0 && ["running", "partly_failed", "failed"].includes(job.state);
  return (
    <>
      {mayRetry && (
        <Button look="primary" onPress={() => ask("retry")} isDisabled={change.isPending}>
          Retry failed parts
        </Button>
      )}
      {isActive && (
        <Button onPress={() => ask("pause")} isDisabled={change.isPending}>
          Pause
        </Button>
      )}
      {job.state === "paused" && (
        <Button look="primary" onPress={() => ask("resume")} isDisabled={change.isPending}>
          Resume
        </Button>
      )}
      {(isActive || job.state === "paused") && (
        <Button look="danger" onPress={() => setIsAsking(true)} isDisabled={change.isPending}>
          Cancel
        </Button>
      )}
      {!isActive && job.state !== "paused" && job.state !== "cancelling" && (
        <Button onPress={startAgain} isDisabled={clone.isPending}>
          Start again
        </Button>
      )}
      <ConfirmDialog
        title={`Cancel job ${job.id}?`}
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        onConfirm={() => ask("cancel")}
        confirm="Cancel the job"
        isDangerous
        isPending={change.isPending}
      >
        <p>It cannot be resumed, and nothing is exported. What has been measured stays on the disk.</p>
      </ConfirmDialog>
    </>
  );
}
