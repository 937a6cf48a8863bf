import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearch, useSearchParams } from "wouter";
import type { DecisionChoice, ProfileContent } from "@/api/documents";
import { jobQuery, type JobDetail } from "@/api/jobs";
import { asContent, compareContents } from "@/api/profile-contents";
import { versionQuery } from "@/api/profiles";
import { useIsAllowed } from "@/api/roles";
import { samplingQuery, type ScoreBand } from "@/api/vocabularies";
import { Button, ButtonLink } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { TextField } from "@/components/fields";
import { Figures } from "@/components/Figures";
import { JobPicker } from "@/components/JobPicker";
import { OfJob } from "@/components/OfJob";
import { Page, Section } from "@/components/Page";
import { SaveProfileDialog } from "@/components/SaveProfileDialog";
import { EmptyState, Loaded } from "@/components/states";
import { usePublishedVersions } from "@/components/VersionPicker";
import { VocabularyPicker } from "@/components/VocabularyPicker";
import { Indexed } from "@/components/Waiting";
import { formatCount, formatShare, formatShortCount, plural } from "@/words/numbers";
import { readId } from "@/words/ids";
import {
  applySampling,
  findChance,
  findSampling,
  LEAST_HALVING,
  MOST_HALVING,
  readHalving,
  readSampling,
  readSeed,
  type Sampling,
} from "./sampling";
import styles from "./vocabulary.module.css";

const TITLE = "Sampling by score";
const PURPOSE =
  "See what would be kept if texts with hard words were let through by chance, the seldomer the harder, and not all excluded.";

export default function SamplingPage() {
  return (
    <OfJob title={TITLE} purpose={PURPOSE} place="/vocabulary/sampling" search={useSearch()}>
      {(jobId) => <JobSampling jobId={jobId} />}
    </OfJob>
  );
}

function JobSampling({ jobId }: { jobId: number }) {
  const [address, setAddress] = useSearchParams();
  const [, go] = useLocation();
  const job = useQuery(jobQuery(jobId));
  const versionId = readId(address.get("version"));
  const show = (change: Record<string, string | null>) =>
    setAddress(
      (now) => {
        for (const [key, value] of Object.entries(change)) {
          if (value === null) now.delete(key);
          else now.set(key, value);
        }
        return now;
      },
      { replace: true },
    );
  return (
    <Page
      title={TITLE}
      purpose={PURPOSE}
      back={{ href: `/vocabulary/${jobId}`, label: "Vocabulary" }}
      actions={
        <>
          <JobPicker jobId={jobId} onChange={(id) => go(`/vocabulary/sampling/${id}`)} />
          <VocabularyPicker
            label="Ruled by"
            own="Words: the job's own"
            value={versionId}
            onChange={(id) => show({ version: id === null ? null : String(id) })}
          />
        </>
      }
    >
      <Loaded query={job} what="the job">
        {(found) => (
          <OwnProfile
            job={found}
            choice={versionId === null ? {} : { vocabulary_id: versionId }}
            address={address}
            onSampling={({ halving, seed }) => show({ halving: String(halving), seed: String(seed) })}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface OwnProfileProps {
  job: JobDetail;
  choice: DecisionChoice;
  address: URLSearchParams;
  onSampling: (sampling: Sampling) => void;
}

function OwnProfile({ job, choice, address, onSampling }: OwnProfileProps) {
  const profile = useQuery(versionQuery(job.profile.name, job.profile.version));
  return (
    <Loaded query={profile} what="the profile">
      {({ data }) => {
        const content = asContent(data.content);
        if (!content.vocabulary) {
          return (
            <EmptyState
              title="This job excludes nothing for its words"
              action={<ButtonLink href={`/profiles/${data.name}/${data.version}`}>See its profile</ButtonLink>}
            >
              <p>Its profile has no stage for words, so that there is nothing to let through.</p>
            </EmptyState>
          );
        }
        return (
          <Sampled
            job={job}
            choice={choice}
            content={content}
            profileName={data.author === "system" ? "" : data.name}
            sampling={readSampling(address, findSampling(content))}
            onSampling={onSampling}
          />
        );
      }}
    </Loaded>
  );
}

interface SampledProps {
  job: JobDetail;
  choice: DecisionChoice;
  content: ProfileContent;
  profileName: string;
  sampling: Sampling;
  onSampling: (sampling: Sampling) => void;
}

function Sampled({ job, choice, content, profileName, sampling, onSampling }: SampledProps) {
  const [typed, setTyped] = useState({ halving: String(sampling.halving), seed: String(sampling.seed) });
  const [isSaving, setIsSaving] = useState(false);
  const [, go] = useLocation();
  const mayWrite = useIsAllowed("profiles");
  const versions = usePublishedVersions();
  const preview = useQuery(samplingQuery(job.id, choice, sampling.halving, sampling.seed));
  const halving = readHalving(typed.halving);
  const seed = readSeed(typed.seed);
  const sampled = applySampling(content, sampling);
  const differences = compareContents(content, sampled);

  function type(change: Partial<typeof typed>) {
    const next = { ...typed, ...change };
    setTyped(next);
    const [wantedHalving, wantedSeed] = [readHalving(next.halving), readSeed(next.seed)];
    if (wantedHalving !== null && wantedSeed !== null) onSampling({ halving: wantedHalving, seed: wantedSeed });
  }

  return (
    <>
      <Section
        title="How texts are drawn"
        about="A text is judged by its hardest word. Where that only just counts, the text is let through almost always; every so many points of score halve its chance. A word never seen in K-5 texts has no chance."
        actions={
          mayWrite && (
            <Button look="primary" isDisabled={differences.length === 0} onPress={() => setIsSaving(true)}>
              Save as a version…
            </Button>
          )
        }
      >
        <div className={styles.sampling}>
          <TextField
            label="Points that halve the chance"
            type="number"
            min={LEAST_HALVING}
            max={MOST_HALVING}
            step={0.25}
            value={typed.halving}
            onChange={(value) => type({ halving: value })}
            description="More points: more texts are let through."
            error={halving === null ? `A number from ${LEAST_HALVING} to ${MOST_HALVING}.` : undefined}
          />
          <TextField
            label="Seed of the draw"
            type="number"
            min={0}
            step={1}
            value={typed.seed}
            onChange={(value) => type({ seed: value })}
            description="The same seed draws the same texts, on any machine."
            error={seed === null ? "A whole number from 0 on." : undefined}
          />
        </div>
      </Section>
      <Indexed query={preview} what="what would be kept">
        {({ bands, ...found }) => {
          const drawn = bands
            .filter(({ documents }) => documents > 0)
            .map((band) => ({ ...band, minScore: found.min_score, halving: found.halving }));
          return (
            <>
              <Figures
                figures={[
                  {
                    label: "kept with sampling",
                    value: formatShortCount(found.kept.documents),
                    unit: "documents",
                    exact: `${formatCount(found.kept.documents)} documents, ${plural(found.kept.tokens, "token")}`,
                    meaning: "What every stage lets through, with the words drawn as above.",
                  },
                  {
                    label: "kept without",
                    value: formatShortCount(found.kept_when_blocking.documents),
                    unit: "documents",
                    exact: `${formatCount(found.kept_when_blocking.documents)} documents, ${plural(found.kept_when_blocking.tokens, "token")}`,
                    meaning: "What is kept when every text with too many hard words is excluded.",
                  },
                  {
                    label: "more, by sampling",
                    value: formatShortCount(found.kept.tokens - found.kept_when_blocking.tokens),
                    unit: "tokens",
                    exact: plural(found.kept.documents - found.kept_when_blocking.documents, "document"),
                    meaning: "Pieces of words, as language models count text, that the draw adds.",
                  },
                  {
                    label: "need no draw",
                    value: formatShortCount(found.passing),
                    unit: "documents",
                    exact: plural(found.passing, "document"),
                    meaning: "Their words are forgiven anyway, whatever else is said of them.",
                  },
                ]}
              />
              <Section
                title="By the score of the hardest word"
                about="Texts with too many hard words to pass without a draw. Expected: how many are let through on average; drawn: those that this seed lets through; kept: what every other stage lets through of these."
              >
                {drawn.length > 0 ? (
                  <DataTable
                    label="By the score of the hardest word"
                    columns={COLUMNS}
                    rows={drawn}
                    keyOf={({ low }) => low ?? "never"}
                  />
                ) : (
                  <p className={styles.muted}>Every text passes without a draw.</p>
                )}
              </Section>
            </>
          );
        }}
      </Indexed>
      <SaveProfileDialog
        isOpen={isSaving}
        onClose={() => setIsSaving(false)}
        content={sampled}
        differences={differences}
        suggestedName={profileName}
        versions={versions}
        onSaved={() => {
          setIsSaving(false);
          go("/profiles");
        }}
      />
    </>
  );
}

interface Row extends ScoreBand {
  minScore: number;
  halving: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "score", header: "Score", look: "fit", cell: nameBand },
  { id: "chance", header: "Let through", look: "fit", cell: describeChances },
  { id: "documents", header: "Documents", look: "number", cell: ({ documents }) => formatCount(documents) },
  { id: "tokens", header: "Tokens", look: "number", isSecondary: true, cell: ({ tokens }) => formatShortCount(tokens) },
  { id: "expected", header: "Expected", look: "number", cell: describeExpected },
  { id: "drawn", header: "Drawn", look: "number", cell: ({ drawn }) => formatCount(drawn) },
  { id: "kept", header: "Kept", look: "number", cell: ({ kept }) => formatCount(kept) },
];

function nameBand({ low, high }: Row): string {
  if (low === null) return "Never in K-5 texts";
  return high === null ? `${low.toFixed(1)} and more` : `${low.toFixed(1)} to ${high.toFixed(1)}`;
}

function describeChances({ low, high, minScore, halving }: Row): string {
  if (low === null) return "never";
  const most = formatShare(findChance(low, minScore, halving), 1);
  return high === null ? `${most} and less` : `${most} to ${formatShare(findChance(high, minScore, halving), 1)}`;
}

function describeExpected({ expected, deviation }: Row): string {
  return expected === 0 ? "0" : `${expected.toFixed(1)} ± ${deviation.toFixed(1)}`;
}
