import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { useStartJob, type JobOptions } from "@/api/jobs";
import { profilesQuery, type Profile } from "@/api/profiles";
import { sourcesQuery, type Source } from "@/api/sources";
import { Button, ButtonLink } from "@/components/Button";
import { CheckField, FieldRow, Form, FormButtons, SelectField, TextField, type Option } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { SourcePreview } from "@/components/SourcePreview";
import { EmptyState, Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { formatBytes, plural } from "@/words/numbers";
import { CONTROL_MATCHES, SOURCE_STATES } from "@/words/terms";
import { DEFAULT_CHOICES, readChoices, type Amount, type Choices } from "./choices";
import { EstimateSection } from "./EstimateSection";
import styles from "./jobs.module.css";

const AMOUNTS: readonly Option<Amount>[] = [
  { value: "all", label: "Everything", description: "Every document of the source." },
  { value: "trial", label: "A trial", description: "1 % of the source, drawn at random: quick, and a fair picture." },
  { value: "share", label: "A share", description: "As much as you say, drawn at random." },
  {
    value: "first",
    label: "The first documents",
    description: "Quick to try; files are often sorted, so not a fair picture.",
  },
];

const MATCHES = (Object.keys(CONTROL_MATCHES) as JobOptions["control_match"][]).map((value) => ({
  value,
  label: CONTROL_MATCHES[value].label,
  description: CONTROL_MATCHES[value].meaning,
}));

export default function NewJobPage() {
  const sources = useQuery(sourcesQuery);
  const profiles = useQuery(profilesQuery);
  return (
    <Page
      title="New job"
      purpose="Choose what to curate and by which profile; nothing of the source is changed."
      back={{ href: "/jobs", label: "Jobs" }}
    >
      <Loaded query={sources} what="the sources">
        {(foundSources) => (
          <Loaded query={profiles} what="the profiles">
            {(foundProfiles) =>
              foundSources.length > 0 ? (
                <NewJob sources={foundSources} profiles={foundProfiles} />
              ) : (
                <EmptyState
                  title="First register a source"
                  action={
                    <ButtonLink href="/sources/new" look="primary">
                      Register a source
                    </ButtonLink>
                  }
                >
                  A job reads documents from a source: files, folders, addresses or a data set of the Hugging Face Hub.
                </EmptyState>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function NewJob({ sources, profiles }: { sources: readonly Source[]; profiles: readonly Profile[] }) {
  const [query] = useSearchParams();
  const [, go] = useLocation();
  const ready = sources.filter(({ state }) => state === "ready");
  const wanted = query.get("source");
  // A source that was asked for is never exchanged for another, also while it is not ready.
  const [sourceId, setSourceId] = useState(wanted === null ? (ready.at(-1)?.id ?? null) : Number(wanted));
  const published = profiles.filter(({ newest }) => newest.state === "published");
  const [profileId, setProfileId] = useState(
    (published.find(({ name }) => name === "recommended") ?? published[0])?.newest.id ?? null,
  );
  const [choices, setChoices] = useState(DEFAULT_CHOICES);
  const startJob = useStartJob();
  const source = ready.find(({ id }) => id === sourceId);
  const { options, problem } = readChoices(choices);

  function choose(changed: Partial<Choices>) {
    setChoices({ ...choices, ...changed });
  }

  function start() {
    if (sourceId === null || profileId === null || !options) return;
    startJob.mutate(
      { source_id: sourceId, profile_id: profileId, options },
      {
        onSuccess: (job) => {
          tell(`Job ${job.id} has been started.`);
          go(`/jobs/${job.id}`);
        },
      },
    );
  }

  return (
    <div className={styles.two}>
      <div className={styles.column}>
        <Section title="What to do">
          <Form onSubmit={start} label="New job">
            <SelectField
              label="Source"
              value={sourceId === null ? null : String(sourceId)}
              onChange={(value) => setSourceId(Number(value))}
              options={ready.map(describeSource)}
              description={describeUnready(sources)}
              isDisabled={ready.length === 0}
            />
            <SelectField
              label="Profile"
              value={profileId === null ? null : String(profileId)}
              onChange={(value) => setProfileId(Number(value))}
              options={published.map(({ newest }) => ({
                value: String(newest.id),
                label: `${newest.name} v${newest.version}`,
                description: newest.note || undefined,
              }))}
              description="The thresholds that decide what is kept. Drafts have to be published first."
            />
            <SelectField
              label="How much"
              value={choices.amount}
              onChange={(amount) => choose({ amount })}
              options={AMOUNTS}
            />
            {choices.amount === "share" && (
              <TextField
                label="Share in per cent"
                type="number"
                value={choices.percent}
                onChange={(percent) => choose({ percent })}
                error={problem?.percent}
                min={0}
                max={100}
                step={0.1}
              />
            )}
            {choices.amount === "first" && (
              <TextField
                label="Number of documents"
                type="number"
                value={choices.first}
                onChange={(first) => choose({ first })}
                error={problem?.first}
                min={1}
              />
            )}
            <CheckField
              label="Use the careful grader"
              description="slower and more exact; without it more advanced text slips through"
              isSelected={choices.hasEncoder}
              onChange={(hasEncoder) => choose({ hasEncoder })}
            />
            <details className={styles.more}>
              <summary>How the export is laid out</summary>
              <div className={styles.more}>
                <SelectField
                  label="The unfiltered control has"
                  value={choices.controlMatch}
                  onChange={(controlMatch) => choose({ controlMatch })}
                  options={MATCHES}
                  description="A control is unfiltered text from the same source, to compare a trained model with."
                />
                <FieldRow>
                  <TextField
                    label="Most tokens to export"
                    type="number"
                    value={choices.budget}
                    onChange={(budget) => choose({ budget })}
                    error={problem?.budget}
                    description="Empty: no limit."
                    min={1}
                  />
                  <TextField
                    label="Held back for validation, in per cent"
                    type="number"
                    value={choices.validation}
                    onChange={(validation) => choose({ validation })}
                    error={problem?.validation}
                    min={0}
                    max={99}
                  />
                </FieldRow>
              </div>
            </details>
            {startJob.error ? <ProblemMessage error={startJob.error} /> : null}
            <FormButtons>
              <Button
                type="submit"
                look="primary"
                isDisabled={startJob.isPending || !source || profileId === null || !options}
              >
                {startJob.isPending ? "Starting…" : "Start the job"}
              </Button>
            </FormButtons>
          </Form>
        </Section>
        {source && <EstimateSection source={source} profileId={profileId} options={options} />}
      </div>
      {source && (
        <Section
          title={`First documents of ${source.name}`}
          about="What is there, as it is. Long texts are cut short here."
        >
          <SourcePreview source={source} most={3} />
        </Section>
      )}
    </div>
  );
}

function describeSource({ id, name, row_count, size_bytes }: Source): Option<string> {
  const size = [
    row_count === null ? "documents not counted yet" : plural(row_count, "document"),
    size_bytes === null ? "" : formatBytes(size_bytes),
  ];
  return { value: String(id), label: name, description: size.filter(Boolean).join(", ") };
}

function describeUnready(sources: readonly Source[]): string | undefined {
  const others = sources.filter(({ state }) => state !== "ready");
  if (others.length === 0) return undefined;
  return `Not to be chosen: ${others.map(({ name, state }) => `${name} (${SOURCE_STATES[state].label.toLowerCase()})`).join(", ")}.`;
}
