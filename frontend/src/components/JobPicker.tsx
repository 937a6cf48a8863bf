import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { isReadable, recentJobsQuery } from "@/api/jobs";
import { ButtonLink } from "./Button";
import { SelectField } from "./fields";
import { EmptyState, Loaded } from "./states";

interface JobPickerProps {
  jobId: number;
  onChange: (id: number) => void;
}

export function JobPicker({ jobId, onChange }: JobPickerProps) {
  const jobs = useQuery(recentJobsQuery);
  const readable = (jobs.data?.items ?? []).filter(isReadable);
  const options = readable.map((job) => ({
    value: String(job.id),
    label: `Job ${job.id}: ${job.source.name}`,
    description: `${job.profile.name} v${job.profile.version}`,
  }));
  if (!readable.some(({ id }) => id === jobId)) {
    options.push({ value: String(jobId), label: `Job ${jobId}`, description: "" });
  }
  return (
    <SelectField
      label="Job"
      isLabelHidden
      value={String(jobId)}
      onChange={(id) => onChange(Number(id))}
      options={options}
    />
  );
}

interface NewestJobProps {
  children: (jobId: number) => ReactNode;
}

/** The newest job whose documents can be read; where there is none, the way to one. */
export function NewestJob({ children }: NewestJobProps) {
  const jobs = useQuery(recentJobsQuery);
  return (
    <Loaded query={jobs} what="the jobs">
      {({ items }) => {
        const newest = items.find(isReadable);
        if (newest) return children(newest.id);
        return (
          <EmptyState
            title="No job is done yet"
            action={
              <ButtonLink href="/jobs" look="primary">
                To the jobs
              </ButtonLink>
            }
          >
            Documents can be read once a job has measured all of them.
          </EmptyState>
        );
      }}
    </Loaded>
  );
}
