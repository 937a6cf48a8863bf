import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { DecisionChoice } from "@/api/documents";
import { readCounts, whatIfQuery } from "@/api/what-if";
import { Figures } from "@/components/Figures";
import { Section } from "@/components/Page";
import { Indexed } from "@/components/Waiting";
import { formatCount, formatShare, formatShortCount, plural } from "@/words/numbers";
import styles from "./exports.module.css";

interface ExpectSectionProps {
  jobId: number;
  profileId: number | null;
  /** The last ruling that counts; null: the newest. */
  revision: number | null;
  budget: number | null;
  validationShare: number;
  hasCurriculum: boolean;
}

/** What the export will hold, counted over every document of the job. */
export function ExpectSection({
  jobId,
  profileId,
  revision,
  budget,
  validationShare,
  hasCurriculum,
}: ExpectSectionProps) {
  const other: DecisionChoice = {
    ...(profileId === null ? {} : { profile_id: profileId }),
    ...(revision === null ? {} : { revision }),
  };
  const counts = useQuery(whatIfQuery({ job: jobId, baseline: {}, other }));
  return (
    <Section title="What to expect">
      <Indexed query={counts} what="the counts">
        {({ funnel }) => {
          const { documents, tokens } = readCounts(funnel);
          const all = documents.kept + documents.excluded + documents.undecided + documents.error;
          const isCut = budget !== null && budget < tokens.kept;
          const shownTokens = isCut ? budget : tokens.kept;
          return (
            <>
              {documents.undecided > 0 && (
                <p className={styles.warning} role="alert">
                  {plural(documents.undecided, "document is", "documents are")} undecided with this profile, and only a
                  whole run can be exported. <Link href={`/thresholds/${jobId}`}>Send them to be measured</Link>, or
                  choose another profile.
                </p>
              )}
              <Figures
                figures={[
                  {
                    label: "Documents kept",
                    value: formatShortCount(documents.kept),
                    exact: formatCount(documents.kept),
                    unit: formatShare(documents.kept, all),
                    meaning: isCut
                      ? "What the profile and the rulings keep, and its share of all documents. The limit of tokens ends the curriculum earlier."
                      : "What the profile and the rulings keep, and its share of all documents.",
                  },
                  {
                    label: isCut ? "Tokens, at most" : "Tokens kept",
                    value: formatShortCount(shownTokens),
                    exact: formatCount(shownTokens),
                    meaning: "Pieces of words, as language models count text, in the curriculum.",
                  },
                  {
                    label: "Tokens of the control",
                    value: `about ${formatShortCount(shownTokens)}`,
                    exact: formatCount(shownTokens),
                    meaning: "As much unfiltered text as the curriculum has, as far as the source has it.",
                  },
                  ...(validationShare > 0 && hasCurriculum
                    ? [
                        {
                          label: "Held back",
                          value: `about ${formatShortCount(Math.round(documents.kept * validationShare))}`,
                          unit: "documents",
                          meaning: "Documents of the curriculum that go into files for validation.",
                        },
                      ]
                    : []),
                ]}
              />
              {!hasCurriculum && <p className={styles.muted}>The curriculum itself is not written.</p>}
            </>
          );
        }}
      </Indexed>
    </Section>
  );
}
