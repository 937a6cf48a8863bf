import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useRequestExport } from "@/api/exports";
import { recentJobsQuery, type JobView } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { Button, ButtonLink } from "@/components/Button";
import { Form, FormButtons, SelectField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { EmptyState, Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { VersionPicker } from "@/components/VersionPicker";
import { plural } from "@/words/numbers";
import { ChoiceFields, RulingFields } from "./ChoiceFields";
import { DEFAULT_CHOICES, readChoices, readRevision, type Choices } from "./choices";
import { ExpectSection } from "./ExpectSection";
import styles from "./exports.module.css";
import { OPERATORS_ONLY } from "./operators";

export default function NewExportPage() {
  const jobs = useQuery(recentJobsQuery);
  const mayExport = useIsAllowed("exports");
  return (
    <Page
      title="New export"
      purpose="Write what a finished job keeps as files to train on; earlier exports stay as they are."
      back={{ href: "/exports", label: "Exports" }}
    >
      {mayExport ? (
        <Loaded query={jobs} what="the jobs">
          {({ items }) => {
            const finished = items.filter(isExportable);
            return finished.length > 0 ? <NewExport jobs={finished} /> : <NoJobYet />;
          }}
        </Loaded>
      ) : (
        <EmptyState title="Operators make exports" action={<ButtonLink href="/exports">To the exports</ButtonLink>}>
          {OPERATORS_ONLY}
        </EmptyState>
      )}
    </Page>
  );
}

/** Measured to its end. What grades more of a job's documents writes into that job's own run. */
function isExportable({ state, kind }: JobView): boolean {
  return state === "succeeded" && kind === "curate";
}

function NoJobYet() {
  return (
    <EmptyState
      title="No job is done yet"
      action={
        <ButtonLink href="/jobs" look="primary">
          To the jobs
        </ButtonLink>
      }
    >
      What a job keeps can be exported once it has measured every document.
    </EmptyState>
  );
}

function NewExport({ jobs }: { jobs: readonly JobView[] }) {
  const [query] = useSearchParams();
  const [, go] = useLocation();
  const [jobId, setJobId] = useState(() => Number(query.get("job") ?? jobs[0]?.id));
  const [profileId, setProfileId] = useState<number | null>(null);
  const [choices, setChoices] = useState(DEFAULT_CHOICES);
  const request = useRequestExport();
  const job = jobs.find(({ id }) => id === jobId);
  const { options, problem } = readChoices(choices);

  function choose(changed: Partial<Choices>) {
    setChoices({ ...choices, ...changed });
  }

  function start() {
    if (!job || !options) return;
    request.mutate(
      { base_job_id: job.id, profile_id: profileId, ...options },
      {
        onSuccess: ({ id }) => {
          tell(`Export ${id} is being made.`);
          go(`/exports/${id}`);
        },
      },
    );
  }

  return (
    <div className={styles.two}>
      <Section title="What to export">
        <Form onSubmit={start} label="New export">
          <SelectField
            label="Job"
            value={job ? String(job.id) : null}
            onChange={(id) => setJobId(Number(id))}
            options={jobs.map(({ id, source, documents_done, profile }) => ({
              value: String(id),
              label: `Job ${id}: ${source.name}`,
              description: `${plural(documents_done, "document")}, ${profile.name} v${profile.version}`,
            }))}
            description="Its documents are measured already: nothing is measured anew."
          />
          <VersionPicker
            label="Profile"
            own={job ? `${job.profile.name} v${job.profile.version}, the job's own` : "The job's own profile"}
            value={profileId}
            onChange={setProfileId}
            isLabelShown
          />
          <RulingFields choices={choices} problem={problem} onChange={choose} />
          <ChoiceFields choices={choices} problem={problem} onChange={choose} />
          {request.error ? <ProblemMessage error={request.error} /> : null}
          <FormButtons>
            <Button type="submit" look="primary" isDisabled={request.isPending || !job || !options}>
              {request.isPending ? "Asking…" : "Make the export"}
            </Button>
          </FormButtons>
        </Form>
      </Section>
      {job && (
        <ExpectSection
          jobId={job.id}
          profileId={profileId}
          revision={readRevision(choices)}
          budget={options?.token_budget ?? null}
          validationShare={options?.validation_share ?? 0}
          hasCurriculum={choices.holds === "both"}
        />
      )}
    </div>
  );
}
