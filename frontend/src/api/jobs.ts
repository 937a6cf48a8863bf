// Jobs and their parts.
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";
import { untilBuilt } from "./waiting";

export type JobView = Schemas["JobView"];
export type JobDetail = Schemas["JobDetail"];
export type JobState = Schemas["JobState"];
export type JobOptions = Schemas["JobOptions"];
export type Estimate = Schemas["EstimateView"];
export type TaskView = Schemas["TaskView"];
export type TaskState = Schemas["TaskState"];

const WHOLE = {
  sample_seed: 0,
  slice_bytes: 32 << 20,
  validation_share: 0,
  control_match: "tokens",
  control_seed: 0,
} as const;
const PAGE = 50;
const TASKS_AT_ONCE = 500;
export const MOST_TASKS = 2_000; // more squares than a person can look through

export interface FunnelStep {
  stage: string;
  excluded: number;
  excluded_tokens: number;
  left: number;
  left_tokens: number;
}

type Outcome = "kept" | "excluded" | "undecided" | "error";

/** What the service says of a job's documents; described by curation/funnel.py. */
export interface Funnel {
  documents: Record<Outcome, number>;
  tokens: Record<Outcome, number>;
  published_order: FunnelStep[];
  cheap_first_order: FunnelStep[];
  sole_causes: Record<string, { documents: number; tokens: number }>;
  possible_sole_causes: Record<string, { documents: number; tokens: number }>;
  undecided_for: Record<string, number>;
}

export interface Report {
  statement?: string;
  shard_errors?: { name?: string; error?: string }[];
  row_errors?: { count: number; examples: Record<string, unknown>[] };
  duplicate_ids?: { count: number };
  normalized_documents?: number;
  ledger?: { bytes_per_document?: Record<string, number> };
  export?: {
    folder: string;
    files: number;
    curriculum_rows: number;
    curriculum_tokens: number;
    control_rows: number;
    control_tokens: number;
  };
  times?: { decide_seconds?: number; export_seconds?: number };
}

export function readFunnel(job: JobDetail): Funnel | null {
  return job.funnel as Funnel | null;
}

export function readReport(job: JobDetail): Report | null {
  return job.report as Report | null;
}

export const FINAL_STATES: readonly JobState[] = ["cancelled", "succeeded", "partly_failed", "failed"];

export function isOver(job: { state: JobState }): boolean {
  return FINAL_STATES.includes(job.state);
}

/** Whether its documents can be read: every one is measured and decided. */
export function isReadable({ state, kind }: JobView): boolean {
  return state === "succeeded" && (kind === "curate" || kind === "measure_undecided");
}

export const jobKeys = {
  all: ["jobs"],
  lists: ["jobs", "list"],
  detail: (id: number) => ["jobs", "detail", id],
  tasks: (id: number) => ["jobs", "tasks", id],
};

export const jobsQuery = (state?: JobState) =>
  infiniteQueryOptions({
    queryKey: [...jobKeys.lists, state ?? "any"],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET("/api/v1/jobs", { params: { query: { cursor: pageParam, limit: PAGE, state } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });

export const recentJobsQuery = queryOptions({
  queryKey: [...jobKeys.lists, "recent"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/v1/jobs", { params: { query: { limit: PAGE } }, signal })),
});

/** The newest jobs over a source whose documents can be read. */
export const readableJobsQuery = (source: number) =>
  queryOptions({
    queryKey: [...jobKeys.lists, "readable", source],
    queryFn: async ({ signal }) => {
      const query = { source_id: source, state: "succeeded" as const, limit: PAGE };
      const page = await unwrap(api.GET("/api/v1/jobs", { params: { query }, signal }));
      return page.items.filter(isReadable);
    },
  });

export const jobQuery = (id: number) =>
  queryOptions({
    queryKey: jobKeys.detail(id),
    queryFn: ({ signal }) => unwrap(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id: id } }, signal })),
    // Rate and time left change by themselves; everything else comes with events.
    refetchInterval: ({ state }) => (state.data && state.data.state === "running" ? 5_000 : false),
  });

export const tasksQuery = (id: number) =>
  queryOptions({
    queryKey: jobKeys.tasks(id),
    queryFn: ({ signal }) =>
      readAll(
        (cursor) =>
          unwrap(
            api.GET("/api/v1/jobs/{job_id}/tasks", {
              params: { path: { job_id: id }, query: { cursor, limit: TASKS_AT_ONCE } },
              signal,
            }),
          ),
        MOST_TASKS,
      ),
  });

export interface Tried {
  sourceId: number;
  profileId: number;
  limit: number | null;
  hasEncoder: boolean;
}

/** Some documents of the source, measured and decided at once: it takes up to half a minute, and holds until the source changes. */
export const estimateQuery = ({ sourceId, profileId, limit, hasEncoder }: Tried) =>
  queryOptions({
    queryKey: ["estimate", sourceId, profileId, limit, hasEncoder],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST("/api/v1/jobs/estimate", {
          body: {
            source_id: sourceId,
            profile_id: profileId,
            options: { ...WHOLE, limit, has_encoder: hasEncoder },
          },
          signal,
        }),
      ),
    staleTime: Infinity,
    ...untilBuilt,
  });

export function useStartJob() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["JobRequest"]) => unwrap(api.POST("/api/v1/jobs", { body })),
    onSuccess: (job) => {
      client.setQueryData(jobKeys.detail(job.id), job);
      return client.invalidateQueries({ queryKey: jobKeys.lists });
    },
  });
}

export type JobChange = "pause" | "resume" | "cancel" | "retry";

const CHANGE_PATHS = {
  pause: "/api/v1/jobs/{job_id}/pause",
  resume: "/api/v1/jobs/{job_id}/resume",
  cancel: "/api/v1/jobs/{job_id}/cancel",
  retry: "/api/v1/jobs/{job_id}/retry",
} as const;

export function useChangeJob(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: JobChange) => unwrap(api.POST(CHANGE_PATHS[change], { params: { path: { job_id: id } } })),
    onSuccess: (job) => client.setQueryData(jobKeys.detail(id), job),
    onSettled: () => client.invalidateQueries({ queryKey: jobKeys.all }),
  });
}

export function useCloneJob(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/jobs/{job_id}/clone", { params: { path: { job_id: id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: jobKeys.lists }),
  });
}

const MOST_FAILED = 500;

export const failedTasksQuery = (id: number) =>
  queryOptions({
    queryKey: [...jobKeys.tasks(id), "failed"],
    queryFn: async ({ signal }) => {
      const readState = (state: TaskState) =>
        readAll(
          (cursor) =>
            unwrap(
              api.GET("/api/v1/jobs/{job_id}/tasks", {
                params: { path: { job_id: id }, query: { cursor, limit: TASKS_AT_ONCE, state } },
                signal,
              }),
            ),
          MOST_FAILED,
        );
      const [failed, aside] = await Promise.all([readState("failed"), readState("quarantined")]);
      return { items: [...failed.items, ...aside.items], isWhole: failed.isWhole && aside.isWhole };
    },
  });
