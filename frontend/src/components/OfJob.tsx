import { Fragment, type ReactNode } from "react";
import { Redirect, useParams } from "wouter";
import { readId } from "@/words/ids";
import { NewestJob } from "./JobPicker";
import { Workspace } from "./Workspace";

interface OfJobProps {
  title: string;
  purpose: string;
  /** The page's own address, to which a job's number is added. */
  place: string;
  /** Kept behind the job's number. */
  search?: string;
  children: (jobId: number) => ReactNode;
}

/** A page about the job that the address names; where it names none, it leads to the newest one's. */
export function OfJob({ title, purpose, place, search = "", children }: OfJobProps) {
  const { job } = useParams<{ job?: string }>();
  const jobId = readId(job);
  if (jobId !== null) return <Fragment key={jobId}>{children(jobId)}</Fragment>;
  return (
    <Workspace title={title} purpose={purpose}>
      <NewestJob>{(jobId) => <Redirect to={`${place}/${jobId}${search && `?${search}`}`} replace />}</NewestJob>
    </Workspace>
  );
}
