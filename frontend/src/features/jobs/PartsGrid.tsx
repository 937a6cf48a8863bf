import { useQuery } from "@tanstack/react-query";
import { useId, useState, type KeyboardEvent } from "react";
import { MOST_TASKS, tasksQuery, type JobDetail, type TaskState, type TaskView } from "@/api/jobs";
import { Facts } from "@/components/Figures";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { formatCount, formatDuration, secondsBetween } from "@/words/numbers";
import { TASK_KINDS, TASK_STATES } from "@/words/terms";
import { describePart } from "./FailedParts";
import styles from "./parts.module.css";

const KINDS: readonly TaskView["kind"][] = ["plan", "open", "measure", "encode", "finish", "export", "verify", "push"];
const LEGEND: readonly TaskState[] = ["waiting", "running", "done", "failed", "cancelled"];

export function PartsGrid({ job }: { job: JobDetail }) {
  const tasks = useQuery(tasksQuery(job.id));
  const [chosenId, setChosenId] = useState<number>();
  return (
    <Section
      title="Parts of the work"
      about="A square is a part that one worker does at a time. Choose one to see what became of it."
    >
      <Loaded query={tasks} what="the parts">
        {({ items, isWhole }) => {
          const chosen = items.find(({ id }) => id === chosenId);
          return (
            <>
              {!isWhole && (
                <p>These are the first {formatCount(MOST_TASKS)} parts; failed ones are all listed above.</p>
              )}
              <div className={styles.groups}>
                {KINDS.map((kind) => (
                  <Group
                    key={kind}
                    kind={kind}
                    tasks={items.filter((task) => task.kind === kind)}
                    chosenId={chosenId}
                    onChoose={setChosenId}
                  />
                ))}
              </div>
              <div className={styles.legend} aria-hidden>
                {LEGEND.map((state) => (
                  <span key={state} className={styles.key}>
                    <span className={`${styles.part} ${styles[state]}`} />
                    {state === "failed" ? "Failed or set aside" : TASK_STATES[state].label}
                  </span>
                ))}
              </div>
              {chosen && <Detail task={chosen} />}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

interface GroupProps {
  kind: TaskView["kind"];
  tasks: readonly TaskView[];
  chosenId: number | undefined;
  onChoose: (id: number) => void;
}

/** One tab stop however many squares there are: arrow keys go from square to square. */
function Group({ kind, tasks, chosenId, onChoose }: GroupProps) {
  const prefix = useId();
  if (tasks.length === 0) return null;
  const done = tasks.filter(({ state }) => state === "done").length;
  const place = tasks.findIndex(({ id }) => id === chosenId);

  function move(event: KeyboardEvent) {
    const steps: Record<string, number> = {
      ArrowRight: place + 1,
      ArrowDown: place + 1,
      ArrowLeft: place - 1,
      ArrowUp: place - 1,
      Home: 0,
      End: tasks.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const task = tasks[Math.max(0, Math.min(tasks.length - 1, next))];
    if (task) onChoose(task.id);
  }

  return (
    <div className={styles.group}>
      <p className={styles.groupHead}>
        {TASK_KINDS[kind].label}: {formatCount(done)} of {formatCount(tasks.length)} done
      </p>
      <div
        className={styles.grid}
        role="listbox"
        aria-label={`${TASK_KINDS[kind].label}, parts`}
        aria-activedescendant={place >= 0 ? `${prefix}${chosenId}` : undefined}
        tabIndex={0}
        onKeyDown={move}
      >
        {tasks.map((task) => (
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- its list takes the keys
          <span
            key={task.id}
            id={`${prefix}${task.id}`}
            role="option"
            aria-selected={task.id === chosenId}
            aria-label={`${describePart(task)}, ${TASK_STATES[task.state].label}`}
            title={`${describePart(task)}: ${TASK_STATES[task.state].label.toLowerCase()}`}
            className={`${styles.part} ${styles[task.state]} ${task.id === chosenId ? styles.chosen : ""}`}
            onClick={() => onChoose(task.id)}
          />
        ))}
      </div>
    </div>
  );
}

function Detail({ task }: { task: TaskView }) {
  const took = task.started_at && task.finished_at ? secondsBetween(task.started_at, task.finished_at) : null;
  const facts = [
    { label: "Part", value: describePart(task) },
    { label: "State", value: TASK_STATES[task.state].label, meaning: TASK_STATES[task.state].meaning },
    { label: "Attempts", value: formatCount(task.attempts) },
    ...(task.documents === null ? [] : [{ label: "Documents", value: formatCount(task.documents) }]),
    ...(task.worker === null ? [] : [{ label: "Worker", value: task.worker }]),
    ...(task.started_at === null ? [] : [{ label: "Taken up", value: <Moment at={task.started_at} /> }]),
    ...(took === null ? [] : [{ label: "Took", value: formatDuration(took) }]),
    ...(task.error === null ? [] : [{ label: "Why it failed", value: task.error }]),
    ...(task.hint ? [{ label: "What to do", value: task.hint }] : []),
  ];
  return (
    <div className={styles.detail} role="status">
      <Facts facts={facts} />
    </div>
  );
}
