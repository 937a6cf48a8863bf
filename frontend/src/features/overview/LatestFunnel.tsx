import { Link } from "wouter";
import { readFunnel, type JobDetail } from "@/api/jobs";
import { Figures } from "@/components/Figures";
import { FunnelPicture } from "@/components/FunnelPicture";
import { Section } from "@/components/Page";
import { formatCount, formatShare, formatShortCount } from "@/words/numbers";

export function LatestFunnel({ job }: { job: JobDetail }) {
  const funnel = readFunnel(job);
  if (!funnel) return null;
  const { documents, tokens } = funnel;
  const allTokens = tokens.kept + tokens.excluded + tokens.undecided;
  return (
    <Section
      title="What the latest job kept"
      actions={
        <Link href={`/jobs/${job.id}`}>
          Job {job.id}: {job.source.name}
        </Link>
      }
    >
      <Figures
        figures={[
          {
            label: "Documents kept",
            value: formatShortCount(documents.kept),
            exact: formatCount(documents.kept),
            meaning: "Documents that passed every stage of the profile.",
          },
          {
            label: "Of all documents",
            value: formatShare(documents.kept, job.documents_done),
            meaning: "The share of the measured documents that is kept.",
          },
          {
            label: "Tokens kept",
            value: formatShortCount(tokens.kept),
            exact: formatCount(tokens.kept),
            meaning: "Pieces of words, as language models count text, in the documents that are kept.",
          },
          {
            label: "Of all tokens",
            value: formatShare(tokens.kept, allTokens),
            meaning: "The share of the text that is kept. Long documents are excluded more often than short ones.",
          },
        ]}
      />
      <FunnelPicture funnel={funnel} />
    </Section>
  );
}
