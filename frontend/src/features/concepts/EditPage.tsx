import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { impactQuery, type Edit } from "@/api/catalogues";
import { recentJobsQuery, isReadable } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { useStore } from "@/api/store";
import { Button, ButtonLink } from "@/components/Button";
import { SelectField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { EmptyState } from "@/components/states";
import { Indexed } from "@/components/Waiting";
import { readId } from "@/words/ids";
import { ChangeList } from "./ChangeList";
import styles from "./concepts.module.css";
import { ConceptDialog } from "./ConceptDialog";
import { draft, leaveOut, putConcept, setDraft } from "./draft";
import { ImpactFigures } from "./ImpactFigures";
import { CURATORS_ONLY } from "./roles";
import { SaveSection } from "./SaveSection";

export default function EditPage() {
  const edit = useStore(draft);
  const mayEdit = useIsAllowed("rule");
  const [address] = useSearchParams();
  const job = readId(address.get("job"));
  const back = job === null ? "/concepts" : `/concepts/${job}`;
  return (
    <Page
      title="Your edit of the catalogue"
      purpose="See what an edit changes and what must be measured again for it, then save it as a new version."
      back={{ href: back, label: "Concepts" }}
    >
      {!mayEdit ? (
        <EmptyState title="Curators change the catalogue" action={<ButtonLink href={back}>To the concepts</ButtonLink>}>
          {CURATORS_ONLY}
        </EmptyState>
      ) : edit ? (
        <EditContent edit={edit} jobId={job} />
      ) : (
        <EmptyState
          title="There is no edit"
          action={
            <ButtonLink href={back} look="primary">
              To the concepts
            </ButtonLink>
          }
        >
          Change or remove a concept, add one, or bring in a CSV file from the catalogue’s page: what you change is
          collected here.
        </EmptyState>
      )}
    </Page>
  );
}

const NONE = "none";

function EditContent({ edit, jobId }: { edit: Edit; jobId: number | null }) {
  const [, go] = useLocation();
  const [changed, setChanged] = useState<string>();
  const jobs = useQuery(recentJobsQuery);
  const readable = (jobs.data?.items ?? []).filter(isReadable);
  const impact = useQuery({ ...impactQuery(edit, jobId), placeholderData: (before) => before });
  const concept = edit.put.find(({ id }) => id === changed);
  return (
    <>
      <Section
        title="What changes"
        about={`Beside version ${edit.based_on} of the catalogue.`}
        actions={
          <Button isSmall look="quiet" onPress={() => setDraft(null)}>
            Throw it away
          </Button>
        }
      >
        <Indexed query={impact} what="what changes">
          {({ diff }) =>
            diff.changes.length > 0 ? (
              <ChangeList
                label="What changes"
                changes={diff.changes}
                actions={(id) =>
                  edit.csv === null && (
                    <>
                      {edit.put.some((other) => other.id === id) && (
                        <Button isSmall look="quiet" onPress={() => setChanged(id)}>
                          Change it
                        </Button>
                      )}
                      <Button isSmall look="quiet" onPress={() => setDraft(leaveOut(edit, id))}>
                        Leave it out
                      </Button>
                    </>
                  )
                }
              />
            ) : (
              <p className={styles.muted}>Nothing differs from version {edit.based_on}.</p>
            )
          }
        </Indexed>
      </Section>
      {impact.data && (
        <Section
          title="What it means for a job"
          about="Nothing is measured yet: some documents of the job are drawn at random and read now."
          actions={
            <SelectField
              label="In which job"
              isLabelHidden
              value={jobId === null ? NONE : String(jobId)}
              onChange={(id) => go(id === NONE ? "/concepts/edit" : `/concepts/edit?job=${id}`, { replace: true })}
              options={[
                { value: NONE, label: "In no job" },
                ...readable.map(({ id, source }) => ({ value: String(id), label: `Job ${id}: ${source.name}` })),
              ]}
            />
          }
        >
          <ImpactFigures impact={impact.data} />
        </Section>
      )}
      <SaveSection edit={edit} isReady={impact.data !== undefined && !impact.error} jobId={jobId} />
      <ConceptDialog
        isOpen={concept !== undefined}
        onClose={() => setChanged(undefined)}
        concept={concept ?? null}
        isTaken={() => false}
        onPut={(put) => {
          const before = impact.data?.diff.changes.find(({ id }) => id === put.id)?.before ?? undefined;
          setDraft(putConcept(edit, edit.based_on, before, put));
          setChanged(undefined);
        }}
      />
    </>
  );
}
