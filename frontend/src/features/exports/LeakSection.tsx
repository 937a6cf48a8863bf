import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { hasFiles, type ExportDetail } from "@/api/exports";
import { exportProbesQuery } from "@/api/probes";
import { useIsAllowed } from "@/api/roles";
import { ButtonLink } from "@/components/Button";
import { Figures } from "@/components/Figures";
import { Section } from "@/components/Page";
import { formatInterval, formatLeakShare, INTERVAL_MEANING } from "@/words/concepts";
import { formatCount } from "@/words/numbers";
import styles from "./exports.module.css";
import { readLeakGate } from "./leak-gate";

/** What the release gate found, where there was one, and the probes of this export. */
export function LeakSection({ found }: { found: ExportDetail }) {
  const probes = useQuery(exportProbesQuery(found.id));
  const mayProbe = useIsAllowed("jobs");
  const gate = readLeakGate(found.manifest);
  const listed = probes.data ?? [];
  return (
    <Section
      title="What leaks"
      about="Documents of the curriculum that mention a concept taught after grade 5."
      actions={
        mayProbe &&
        hasFiles(found) && (
          <ButtonLink href={`/concepts/probes?export=${found.id}`} isSmall>
            Probe it
          </ButtonLink>
        )
      }
    >
      {gate ? (
        <Figures
          figures={[
            {
              label: "Mention a concept",
              value: formatCount(gate.leaking),
              unit: `of ${formatCount(gate.documents)}`,
              meaning: `Counted when it was written, over every document, by version ${gate.version} of the catalogue.`,
            },
            {
              label: "Share",
              value: formatLeakShare(gate.share),
              unit: `at most ${formatLeakShare(gate.most)}`,
              meaning: "Of its documents, and the largest share with which it would be written.",
            },
            { label: "Others like them", value: formatInterval(gate.interval), meaning: INTERVAL_MEANING },
          ]}
        />
      ) : (
        <p className={styles.muted}>Nobody asked for a limit when it was made.</p>
      )}
      {listed.length > 0 && (
        <ul aria-label="Probes of this export">
          {listed.map(({ id, share, leaking, documents, version }) => (
            <li key={id}>
              <Link href={`/concepts/probes/${id}`}>Probe {id}</Link>
              {share !== null && leaking !== null && documents !== null
                ? `: ${formatCount(leaking)} of ${formatCount(documents)} documents (${formatLeakShare(share)}), catalogue version ${version}`
                : ": not finished"}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
