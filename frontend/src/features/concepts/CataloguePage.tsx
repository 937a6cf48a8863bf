import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { useLocation, useSearchParams } from "wouter";
import {
  catalogueDiffQuery,
  csvAddress,
  useRevertCatalogue,
  versionsQuery,
  yamlAddress,
  type CatalogueVersion,
} from "@/api/catalogues";
import { useIsAllowed } from "@/api/roles";
import { useStore } from "@/api/store";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { Dialog } from "@/components/Dialog";
import { Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { formatCount, plural } from "@/words/numbers";
import { readId } from "@/words/ids";
import { ChangeList } from "./ChangeList";
import styles from "./concepts.module.css";
import { draft, setDraft } from "./draft";
import { EditBar } from "./EditBar";
import { CURATORS_ONLY } from "./roles";

const MOST_CHARACTERS = 4_000_000;
const MOST_NAMED = 3;

/** The versions of the catalogue: who changed what and why, side by side, and the way back. */
export default function CataloguePage() {
  const versions = useInfiniteQuery(versionsQuery);
  const [address] = useSearchParams();
  const edit = useStore(draft);
  const job = readId(address.get("job"));
  return (
    <Page
      title="Catalogue of concepts"
      purpose="Its versions: who changed which concepts and why, what differs, and files for a spreadsheet."
      back={{ href: job === null ? "/concepts" : `/concepts/${job}`, label: "Concepts" }}
    >
      {edit && <EditBar edit={edit} href={job === null ? "/concepts/edit" : `/concepts/edit?job=${job}`} />}
      <Loaded query={versions} what="the versions">
        {({ pages }) => {
          const listed = pages.flatMap(({ items }) => items);
          return (
            <>
              <History
                versions={listed}
                onMore={versions.hasNextPage ? () => void versions.fetchNextPage() : undefined}
                isLoadingMore={versions.isFetchingNextPage}
                job={job}
              />
              <Comparison versions={listed} />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface HistoryProps {
  versions: readonly CatalogueVersion[];
  onMore: (() => void) | undefined;
  isLoadingMore: boolean;
  job: number | null;
}

function History({ versions, onMore, isLoadingMore, job }: HistoryProps) {
  const mayEdit = useIsAllowed("rule");
  const [address, setAddress] = useSearchParams();
  const [reverted, setReverted] = useState<number>();
  const newest = versions[0]?.version ?? 0;

  function compare({ version, based_on }: CatalogueVersion) {
    const next = new URLSearchParams(address);
    next.set("before", String(based_on));
    next.set("after", String(version));
    setAddress(next);
  }

  const columns: readonly Column<CatalogueVersion>[] = [
    {
      id: "version",
      header: "Version",
      look: "fit",
      cell: ({ version }) => (
        <>
          version {version}
          <div className={styles.muted}>
            <a href={csvAddress(version)} download title="For a spreadsheet; it can be brought in again.">
              CSV
            </a>{" "}
            <a href={yamlAddress(version)} download title="For Primer on the command line.">
              YAML
            </a>
          </div>
        </>
      ),
    },
    {
      id: "saved",
      header: "Saved",
      look: "fit",
      cell: ({ created_at, author }) => (
        <>
          <Moment at={created_at} />
          <div className={styles.muted}>{author === "system" ? "came with Primer" : <bdi>{author}</bdi>}</div>
        </>
      ),
    },
    {
      id: "changes",
      header: "What changed",
      look: "wide",
      cell: (version) => (
        <>
          {version.note && <bdi dir="auto">{version.note}</bdi>}
          <div className={styles.muted}>{describeChanges(version)}</div>
        </>
      ),
    },
    {
      id: "concepts",
      header: "Concepts",
      look: "number",
      cell: ({ concept_count }) => <span title="Concepts in this version">{formatCount(concept_count)}</span>,
    },
    {
      id: "actions",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: (version) => (
        <div className={styles.paneButtons}>
          {version.based_on !== null && (
            <Button isSmall onPress={() => compare(version)}>
              What changed
            </Button>
          )}
          {mayEdit && version.version !== newest && (
            <Button isSmall onPress={() => setReverted(version.version)}>
              Go back to it…
            </Button>
          )}
        </div>
      ),
    },
  ];

  return (
    <Section title="Versions" actions={mayEdit && <BringIn newest={newest} job={job} />}>
      {!mayEdit && <p className={styles.muted}>{CURATORS_ONLY}</p>}
      <DataTable
        label="Versions"
        columns={columns}
        rows={versions}
        keyOf={({ version }) => version}
        onMore={onMore}
        isLoadingMore={isLoadingMore}
      />
      <RevertDialog newest={newest} to={reverted} onClose={() => setReverted(undefined)} />
    </Section>
  );
}

const CHANGE_VERBS = {
  added: "added",
  removed: "removed",
  changed: "changed",
  reworded: "described otherwise",
} as const;

function describeChanges({ changes, based_on }: CatalogueVersion): string {
  if (based_on === null) return "the first version";
  const said = (Object.keys(CHANGE_VERBS) as (keyof typeof CHANGE_VERBS)[])
    .filter((kind) => changes[kind].length > 0)
    .map((kind) => {
      const named = changes[kind].slice(0, MOST_NAMED).map((id) => id.replaceAll("-", " "));
      const more = changes[kind].length - named.length;
      return `${CHANGE_VERBS[kind]}: ${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    });
  return said.join("; ") || "in another order";
}

/** A CSV file becomes the edit; the service names the lines that are wrong when its changes are looked at. */
function BringIn({ newest, job }: { newest: number; job: number | null }) {
  const [, go] = useLocation();

  async function read(files: FileList | null) {
    const file = files?.[0];
    if (!file) return;
    const csv = await file.text();
    if (csv.length > MOST_CHARACTERS) {
      tell(`The file has ${plural(csv.length, "character")}; at most ${formatCount(MOST_CHARACTERS)} can be read.`);
      return;
    }
    setDraft({ based_on: newest, put: [], remove: [], csv });
    go(job === null ? "/concepts/edit" : `/concepts/edit?job=${job}`);
  }

  return (
    <FileTrigger acceptedFileTypes={[".csv", "text/csv"]} onSelect={(files) => void read(files)}>
      <Button isSmall>Bring in a CSV…</Button>
    </FileTrigger>
  );
}

interface RevertDialogProps {
  newest: number;
  /** Undefined: nothing is asked. */
  to: number | undefined;
  onClose: () => void;
}

function RevertDialog({ newest, to, onClose }: RevertDialogProps) {
  return (
    <Dialog title={`Go back to version ${to ?? ""}?`} isOpen={to !== undefined} onClose={onClose}>
      {to !== undefined && <RevertForm newest={newest} to={to} onClose={onClose} />}
    </Dialog>
  );
}

function RevertForm({ newest, to, onClose }: { newest: number; to: number; onClose: () => void }) {
  const [note, setNote] = useState("");
  const revert = useRevertCatalogue();
  return (
    <Form
      label="Go back to a version"
      onSubmit={() =>
        revert.mutate(
          { based_on: newest, to, note: note.trim() },
          {
            onSuccess: ({ version }) => {
              onClose();
              tell(`Version ${version} says what version ${to} said.`);
            },
          },
        )
      }
    >
      <p>
        Version {newest + 1} will say what version {to} said. Nothing is erased.
      </p>
      <TextField
        label="Note"
        value={note}
        onChange={setNote}
        isRequired
        maxLength={2_000}
        description="Why."
        autoFocus
      />
      {revert.error ? <ProblemMessage error={revert.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={revert.isPending || note.trim() === ""}>
          {revert.isPending ? "Saving…" : "Go back to it"}
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}

function Comparison({ versions }: { versions: readonly CatalogueVersion[] }) {
  const [address, setAddress] = useSearchParams();
  const before = readId(address.get("before"));
  const after = readId(address.get("after"));
  const diff = useQuery({ ...catalogueDiffQuery(before ?? 0, after ?? 0), enabled: before !== null && after !== null });
  const options = versions.map(({ version }) => ({ value: String(version), label: `version ${version}` }));

  function choose(side: "before" | "after", version: string) {
    const next = new URLSearchParams(address);
    next.set(side, version);
    setAddress(next, { replace: true });
  }

  if (versions.length < 2) return null;
  return (
    <Section title="Compare two versions">
      <div className={styles.bar}>
        <SelectField
          label="Before"
          value={before === null ? null : String(before)}
          onChange={(version) => choose("before", version)}
          options={options}
        />
        <SelectField
          label="After"
          value={after === null ? null : String(after)}
          onChange={(version) => choose("after", version)}
          options={options}
        />
      </div>
      {before !== null && after !== null && (
        <Loaded query={diff} what="what differs">
          {({ changes, remeasured }) =>
            changes.length > 0 ? (
              <>
                <p className={styles.muted}>
                  {plural(changes.length, "concept differs", "concepts differ")};{" "}
                  {remeasured.length === 0
                    ? "nothing must be looked for again."
                    : `${formatCount(remeasured.length)} must be looked for again.`}
                </p>
                <ChangeList label="What differs" changes={changes} />
              </>
            ) : (
              <p className={styles.muted}>They say the same.</p>
            )
          }
        </Loaded>
      )}
    </Section>
  );
}
