import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { documentKeys, documentQuery, tidyQuery, type DecisionChoice } from "@/api/documents";
import { jobQuery } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { JobPicker } from "@/components/JobPicker";
import { OfJob } from "@/components/OfJob";
import type { GridHandle } from "@/components/VirtualGrid";
import { usePageShortcuts } from "@/components/page-shortcuts";
import { toggleEvidence } from "@/components/reading/ReadingPane";
import { EmptyState } from "@/components/states";
import { VersionPicker } from "@/components/VersionPicker";
import { VocabularyPicker } from "@/components/VocabularyPicker";
import { Workspace } from "@/components/Workspace";
import { readView, writeView, type View } from "./address";
import { BulkDialog } from "./BulkDialog";
import { DocumentPane, type PaneHandle } from "./DocumentPane";
import { DocumentTable } from "./DocumentTable";
import styles from "./documents.module.css";
import { FacetPanel } from "./FacetPanel";
import { QueryBar } from "./QueryBar";

const PURPOSE = "Read documents beside the reasons for their decision, and rule on them.";
const HAS_ROOM = "(min-width: 1200px)";

export default function DocumentsPage() {
  return (
    <OfJob title="Documents" purpose={PURPOSE} place="/documents">
      {(jobId) => <JobDocuments jobId={jobId} />}
    </OfJob>
  );
}

function JobDocuments({ jobId }: { jobId: number }) {
  const [address, setAddress] = useSearchParams();
  const [, go] = useLocation();
  const client = useQueryClient();
  const view = readView(address);
  const { query, sort, at, profileId, vocabularyId } = view;
  const choice: DecisionChoice = {
    ...(profileId !== null && { profile_id: profileId }),
    ...(vocabularyId !== null && { vocabulary_id: vocabularyId }),
  };
  const job = useQuery(jobQuery(jobId));
  const [hasFacets, setHasFacets] = useState(() => window.matchMedia(HAS_ROOM).matches);
  const [isRulingAll, setIsRulingAll] = useState(false);
  const [round, setRound] = useState(0);
  const table = useRef<GridHandle>(null);
  const pane = useRef<PaneHandle>(null);
  const reader = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const mayRule = useIsAllowed("rule");

  function show(change: Partial<View>, isReplacing: boolean) {
    setAddress(() => writeView({ ...view, ...change }), { replace: isReplacing });
  }

  function select(position: number) {
    if (position === at) return;
    show({ at: position }, true);
    void client.prefetchQuery(documentQuery(jobId, position, choice));
  }

  const open = () => reader.current?.querySelector<HTMLElement>("[role=region]")?.focus();

  usePageShortcuts([
    { keys: ["j", "ArrowDown"], label: "Next document", run: () => table.current?.move(1) },
    { keys: ["k", "ArrowUp"], label: "Document before", run: () => table.current?.move(-1) },
    { keys: ["o", "Enter"], label: "Read the text", run: open },
    { keys: ["Escape"], label: "Back to the table", run: () => table.current?.focus() },
    { keys: ["K"], label: "Keep the document", run: () => pane.current?.rule("keep") },
    { keys: ["X", "x"], label: "Exclude the document", run: () => pane.current?.rule("exclude") },
    { keys: ["U", "u"], label: "Undo the ruling", run: () => pane.current?.rule("undo") },
    { keys: ["/"], label: "Add a condition", run: () => field.current?.focus() },
    { keys: ["f"], label: "Counts to narrow by", run: () => setHasFacets(!hasFacets) },
    { keys: ["e"], label: "Marks in the text", run: toggleEvidence },
  ]);

  return (
    <Workspace
      title="Documents"
      purpose={PURPOSE}
      actions={
        <>
          <JobPicker jobId={jobId} onChange={(id) => go(`/documents/${id}`)} />
          <VersionPicker
            label="Decided by"
            own={
              job.data
                ? `${job.data.profile.name} v${job.data.profile.version}, the job's own`
                : "The job's own profile"
            }
            value={profileId}
            onChange={(id) => show({ profileId: id }, false)}
          />
          <VocabularyPicker
            label="Words ruled by"
            own="Words: the job's own"
            value={vocabularyId}
            onChange={(id) => show({ vocabularyId: id }, false)}
          />
        </>
      }
    >
      <div className={styles.bar}>
        <Button isSmall onPress={() => setHasFacets(!hasFacets)} aria-expanded={hasFacets}>
          <ListFilter size={15} aria-hidden /> {hasFacets ? "Hide counts" : "Narrow by"}
        </Button>
        <QueryBar query={query} onChange={(next) => show({ query: next }, false)} field={field} />
      </div>
      <div className={`${styles.work} ${hasFacets ? styles.withFacets : ""}`}>
        {hasFacets && (
          <FacetPanel jobId={jobId} choice={choice} query={query} onChange={(next) => show({ query: next }, false)} />
        )}
        <DocumentTable
          key={JSON.stringify([tidyQuery(query), sort, profileId, vocabularyId, round])}
          jobId={jobId}
          choice={choice}
          query={query}
          sort={sort}
          onSort={(next) => show({ sort: next }, false)}
          selected={at}
          onSelect={select}
          onOpen={open}
          onRuleAll={mayRule ? () => setIsRulingAll(true) : undefined}
          handle={table}
        />
        <div ref={reader} className={styles.reader}>
          {at === null ? (
            <EmptyState title="Choose a document">
              <p>
                <kbd>j</kbd> and <kbd>k</kbd> go from one to the next, <kbd>?</kbd> lists every key.
              </p>
            </EmptyState>
          ) : (
            <DocumentPane jobId={jobId} sourceId={job.data?.source.id} position={at} choice={choice} handle={pane} />
          )}
        </div>
      </div>
      <BulkDialog
        jobId={jobId}
        choice={choice}
        query={query}
        isOpen={isRulingAll}
        onClose={() => setIsRulingAll(false)}
        onDone={() => {
          setIsRulingAll(false);
          client.removeQueries({ queryKey: documentKeys.pages(jobId) });
          setRound(round + 1);
        }}
      />
    </Workspace>
  );
}
