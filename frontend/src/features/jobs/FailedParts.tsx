import { useQuery } from "@tanstack/react-query";
import { failedTasksQuery, type JobDetail, type TaskView } from "@/api/jobs";
import { Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { plural } from "@/words/numbers";
import { TASK_KINDS, TASK_STATES } from "@/words/terms";
import styles from "./jobs.module.css";

export function FailedParts({ job }: { job: JobDetail }) {
  const failed = useQuery(failedTasksQuery(job.id));
  return (
    <Section
      title={`${plural(job.failed_tasks, "part")} failed`}
      about="The other parts are not affected. Mend the cause where there is one, then retry the failed parts."
    >
      <Loaded query={failed} what="the failed parts">
        {({ items, isWhole }) => (
          <>
            <ul className={styles.errors}>
              {items.map((task) => (
                <FailedPart key={task.id} task={task} />
              ))}
            </ul>
            {!isWhole && <p className={styles.muted}>There are more.</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function FailedPart({ task }: { task: TaskView }) {
  return (
    <li>
      <p>
        <strong>{describePart(task)}</strong>, {TASK_STATES[task.state].label.toLowerCase()} after{" "}
        {plural(task.attempts, "attempt")}
      </p>
      <p>{task.error}</p>
      {task.hint && <p>{task.hint}</p>}
    </li>
  );
}

/** What a part is of: "part 4 of part-0.parquet". */
export function describePart(task: TaskView): string {
  if (task.shard === null) return TASK_KINDS[task.kind].label;
  if (task.slice_index < 0) return `${TASK_KINDS[task.kind].label}: ${task.shard}`;
  return `${TASK_KINDS[task.kind].label}: part ${task.slice_index + 1} of ${task.shard}`;
}
