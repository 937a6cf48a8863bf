import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components/Tabs";
import { useLocation } from "wouter";
import { ProblemError } from "@/api/problem";
import { useDiscardDraft, usePublishDraft, useSaveDraft, versionQuery, yamlQuery, type Version } from "@/api/profiles";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/Dialog";
import { Form, FormButtons, TextField } from "@/components/fields";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";
import type { Content } from "./content";
import { ContentForm } from "./ContentForm";
import styles from "./profiles.module.css";

type Way = "form" | "yaml";

interface DraftEditorProps {
  version: Version;
  etag: string;
}

/** Changes a draft by its fields or as a file. What is written here and not saved is lost on no answer of the service. */
export function DraftEditor({ version, etag }: DraftEditorProps) {
  const [, go] = useLocation();
  const [way, setWay] = useState<Way>("form");
  const [note, setNote] = useState<string>();
  const [content, setContent] = useState<Content>();
  const [yaml, setYaml] = useState<string>();
  const [hasErrors, setHasErrors] = useState(false);
  const [asks, setAsks] = useState<"publish" | "discard">();
  const [changedEtag, setChangedEtag] = useState(etag);
  const latest = useQuery(versionQuery(version.name, version.version));
  const save = useSaveDraft(version.name, version.version);
  const publish = usePublishDraft(version.name, version.version);
  const discard = useDiscardDraft(version.name, version.version);
  const isChanged = content !== undefined || yaml !== undefined || note !== undefined;
  // What the person has seen: as it was when they began to change it, else as it is now.
  const seenEtag = isChanged ? changedEtag : etag;
  const saved = useQuery(yamlQuery(version.name, version.version, seenEtag));
  useWarning(isChanged);

  const isOverwritten = save.error instanceof ProblemError && save.error.status === 412;

  function begin() {
    if (!isChanged) setChangedEtag(etag);
  }

  function forget() {
    setContent(undefined);
    setYaml(undefined);
    setNote(undefined);
    setHasErrors(false);
    save.reset();
  }

  function submit() {
    const held = yaml === undefined ? { content: content ?? version.content } : { yaml };
    save.mutate(
      { etag: seenEtag, note: note ?? version.note, ...held },
      {
        onSuccess: () => {
          forget();
          tell("The draft is saved.");
        },
      },
    );
  }

  async function takeTheirs() {
    const { data } = await latest.refetch();
    if (data) forget();
  }

  return (
    <Section title="What it asks">
      <Form onSubmit={submit} label="Draft">
        <Tabs
          selectedKey={way}
          onSelectionChange={(key) => setWay(key as Way)}
          disabledKeys={content !== undefined ? ["yaml"] : yaml !== undefined ? ["form"] : []}
        >
          <TabList aria-label="Ways to change the draft" className={styles.tabs}>
            <Tab id="form" className={styles.tab}>
              Fields
            </Tab>
            <Tab id="yaml" className={styles.tab}>
              As a file
            </Tab>
          </TabList>
          <TabPanel id="form" className={styles.panel}>
            <ContentForm
              key={seenEtag}
              content={content ?? version.content}
              onChange={(changed) => {
                begin();
                setContent(changed);
              }}
              onErrors={setHasErrors}
            />
          </TabPanel>
          <TabPanel id="yaml" className={styles.panel}>
            <TextField
              label="The profile as YAML"
              lines="code"
              rows={26}
              value={yaml ?? saved.data ?? ""}
              onChange={(changed) => {
                begin();
                setYaml(changed);
              }}
              isDisabled={saved.data === undefined}
              description="Name and version are the draft's, whatever is written here."
            />
          </TabPanel>
        </Tabs>
        <TextField
          label="Note"
          value={note ?? version.note}
          onChange={(changed) => {
            begin();
            setNote(changed);
          }}
          description="What is different, for who chooses a profile."
        />
        {save.error ? <ProblemMessage error={save.error} /> : null}
        <div className={styles.bar}>
          <FormButtons>
            <Button type="submit" look="primary" isDisabled={!isChanged || hasErrors || save.isPending}>
              {save.isPending ? "Saving…" : "Save the draft"}
            </Button>
            {isOverwritten && <Button onPress={() => void takeTheirs()}>Take what is saved, drop mine</Button>}
            {isChanged && !isOverwritten && (
              <Button look="quiet" onPress={forget}>
                Drop my changes
              </Button>
            )}
            <Button isDisabled={isChanged || publish.isPending} onPress={() => setAsks("publish")}>
              Publish…
            </Button>
            <Button look="danger" onPress={() => setAsks("discard")}>
              Discard…
            </Button>
            {isChanged && <span className={styles.changed}>Not saved yet</span>}
          </FormButtons>
        </div>
      </Form>
      <ConfirmDialog
        title={`Publish ${version.name} v${version.version}?`}
        isOpen={asks === "publish"}
        onClose={() => setAsks(undefined)}
        confirm="Publish it"
        isPending={publish.isPending}
        error={publish.error}
        onConfirm={() =>
          publish.mutate(seenEtag, {
            onSuccess: () => tell(`${version.name} v${version.version} is published.`),
          })
        }
      >
        <p>
          Nobody can change it afterwards, so that a report that names it always means the same. Jobs may use it at
          once.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        title={`Discard ${version.name} v${version.version}?`}
        isOpen={asks === "discard"}
        onClose={() => setAsks(undefined)}
        confirm="Discard the draft"
        isDangerous
        isPending={discard.isPending}
        error={discard.error}
        onConfirm={() =>
          discard.mutate(undefined, {
            onSuccess: () => {
              tell("The draft is discarded.");
              go("/profiles");
            },
          })
        }
      >
        <p>The draft is gone for everybody. Its number is not given again.</p>
      </ConfirmDialog>
    </Section>
  );
}

/** The browser asks before it closes a page with something unsaved. */
function useWarning(isNeeded: boolean) {
  useEffect(() => {
    if (!isNeeded) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isNeeded]);
}
