import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { workQuery, type HeldTask, type QueueState, type Work, type Worker } from "@/api/work";
import { DataTable, type Column } from "@/components/DataTable";
import { Explained } from "@/components/Explained";
import { Figures } from "@/components/Figures";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { formatCount, formatDuration, plural } from "@/words/numbers";
import { QUEUES } from "@/words/service";
import { TASK_KINDS } from "@/words/terms";
import styles from "./admin.module.css";

export function WorkTab() {
  const work = useQuery(workQuery);
  return (
    <Loaded query={work} what="the workers">
      {(found) => <WorkNow work={found} />}
    </Loaded>
  );
}

function WorkNow({ work: { workers, queues, oldest, is_broker_reachable } }: { work: Work }) {
  const held = workers.reduce((sum, { tasks }) => sum + tasks.length, 0);
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  return (
    <>
      <Section title="Work now" about="Asked anew every five seconds.">
        <Figures
          figures={[
            {
              label: "Workers that answer",
              value: formatCount(workers.filter(({ is_answering }) => is_answering).length),
              meaning: "Programs that take parts of jobs. Each may run several processes, one part each.",
            },
            {
              label: "Processes",
              value: formatCount(workers.reduce((sum, { process_count }) => sum + process_count, 0)),
              meaning: "How many parts of jobs can be worked on at the same time.",
            },
            {
              label: "At work",
              value: formatCount(held),
              unit: held === 1 ? "part" : "parts",
              meaning: "Parts of jobs that a process works on now.",
            },
            {
              label: "Waiting",
              value: formatCount(waiting),
              unit: waiting === 1 ? "part" : "parts",
              meaning: "Parts of jobs that a process could take now. Those of paused jobs do not count.",
            },
          ]}
        />
        {!is_broker_reachable && (
          <p className={styles.notOk}>
            The way to the workers is closed, so that none can answer. Those that work go on; new work is found later.
          </p>
        )}
        <p className={styles.muted}>
          {oldest ? (
            <>
              What has waited longest is of <Link href={`/jobs/${oldest.job_id}`}>job {oldest.job_id}</Link>:{" "}
              {TASK_KINDS[oldest.kind].label}, added <Moment at={oldest.created_at} />.
            </>
          ) : (
            "Nothing waits."
          )}
        </p>
      </Section>
      <Section
        title="Queues"
        about="What waits, by the kind of work. Each worker takes from one queue or from several."
      >
        <DataTable label="Queues" columns={QUEUE_COLUMNS} rows={queues} keyOf={({ name }) => name} />
      </Section>
      <Section title="Workers" about="A worker that has fallen silent is known by what it still holds.">
        {workers.length === 0 ? (
          <EmptyState title="No worker answers">
            Jobs wait until one is started: <code>primer worker</code>, on this machine or on another.
          </EmptyState>
        ) : (
          workers.map((worker) => <WorkerBlock key={`${worker.host}/${worker.pid ?? "silent"}`} worker={worker} />)
        )}
      </Section>
    </>
  );
}

const QUEUE_COLUMNS: Column<QueueState>[] = [
  {
    id: "name",
    header: "Queue",
    cell: ({ name }) => <Explained meaning={QUEUES[name].meaning}>{QUEUES[name].label}</Explained>,
  },
  { id: "waiting", header: "Waiting", look: "number", cell: ({ waiting }) => plural(waiting, "part") },
  {
    id: "oldest",
    header: "Oldest waits",
    look: "number",
    cell: ({ waiting, oldest_seconds }) => (waiting > 0 ? formatDuration(oldest_seconds) : "–"),
  },
  { id: "running", header: "At work", look: "number", cell: ({ running }) => plural(running, "part") },
  {
    id: "aside",
    header: "Set aside",
    look: "number",
    cell: ({ quarantined }) => (
      <span title="They ended their process so often that they are not tried again by themselves.">
        {plural(quarantined, "part")}
      </span>
    ),
  },
  {
    id: "messages",
    header: "Announced",
    look: "number",
    isSecondary: true,
    cell: ({ announced }) => (
      <span title="Messages on their way to workers. Where they are lost, work is found by itself, only later.">
        {announced === null ? "unknown" : plural(announced, "message")}
      </span>
    ),
  },
  {
    id: "processes",
    header: "Served by",
    look: "number",
    cell: ({ process_count }) => (
      <span className={process_count === 0 ? styles.notOk : undefined}>
        {plural(process_count, "process", "processes")}
      </span>
    ),
  },
];

function WorkerBlock({ worker }: { worker: Worker }) {
  const { host, pid, queues, process_count, uptime_seconds, is_answering, tasks } = worker;
  return (
    <div className={styles.worker}>
      <div className={styles.workerHead}>
        <h3 dir="auto">{pid === null ? host : `${host}, process ${pid}`}</h3>
        <StateBadge
          term={
            is_answering
              ? { label: "Answers", tone: "good", meaning: "It said within the last seconds that it lives." }
              : {
                  label: "Silent",
                  tone: "warning",
                  meaning: "Busy, stopped or gone: what it holds is given to others when its time is over.",
                }
          }
        />
      </div>
      <p className={styles.muted}>
        {plural(process_count, "process", "processes")}
        {uptime_seconds !== null && `, running for ${formatDuration(uptime_seconds)}`}. Takes from:{" "}
        {queues.map((name) => (name in QUEUES ? QUEUES[name as keyof typeof QUEUES].label : name)).join(", ")}.
      </p>
      {tasks.length > 0 ? (
        <DataTable label={`Held by ${host}`} columns={HELD_COLUMNS} rows={tasks} keyOf={({ task_id }) => task_id} />
      ) : (
        <p>Idle.</p>
      )}
    </div>
  );
}

const HELD_COLUMNS: Column<HeldTask>[] = [
  {
    id: "kind",
    header: "Doing",
    cell: ({ kind }) => <span title={TASK_KINDS[kind].meaning}>{TASK_KINDS[kind].label}</span>,
  },
  { id: "job", header: "Job", look: "fit", cell: ({ job_id }) => <Link href={`/jobs/${job_id}`}>Job {job_id}</Link> },
  {
    id: "part",
    header: "Of",
    look: "wide",
    cell: ({ source, shard, slice_index }) => (
      <span dir="auto">
        {[source, shard, slice_index >= 0 ? `part ${slice_index + 1}` : ""].filter(Boolean).join(", ")}
      </span>
    ),
  },
  {
    id: "since",
    header: "Since",
    look: "fit",
    cell: ({ started_at }) => (started_at ? <Moment at={started_at} /> : "–"),
  },
  {
    id: "attempts",
    header: "Attempt",
    look: "number",
    cell: ({ attempts }) => (
      <span title="How often this part has been begun. It is set aside when it has failed too often.">
        {formatCount(attempts)}
      </span>
    ),
  },
  {
    id: "lease",
    header: "Held for",
    look: "number",
    isSecondary: true,
    cell: ({ lease_seconds }) => (
      <span title="If the worker stays silent for so long, another may take the part. It is renewed while it lives.">
        {lease_seconds > 0 ? `another ${formatDuration(lease_seconds)}` : "no longer"}
      </span>
    ),
  },
];
