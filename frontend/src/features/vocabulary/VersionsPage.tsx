import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useIsAllowed } from "@/api/roles";
import {
  csvAddress,
  useRevertVocabulary,
  vocabulariesQuery,
  vocabularyVersionsQuery,
  wordChangesQuery,
  type SenseRule,
  type Vocabulary,
  type VocabularySummary,
  type WordChange,
} from "@/api/vocabularies";
import { Button, ButtonLink } from "@/components/Button";
import button from "@/components/button.module.css";
import { DataTable, type Column } from "@/components/DataTable";
import { ConfirmDialog } from "@/components/Dialog";
import { SelectField, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { formatCount, plural } from "@/words/numbers";
import { describeRuling } from "@/words/vocabulary";
import { readId } from "@/words/ids";
import { RulingSummary } from "./RulingSummary";
import styles from "./vocabulary.module.css";

/** Who ruled what and when; what changed; the way back; files for a spreadsheet. */
export default function VersionsPage() {
  const vocabularies = useQuery(vocabulariesQuery);
  return (
    <Page
      title="Versions of words"
      purpose="Who ruled on which words, when and why; what changed between two versions, and the way back."
      back={{ href: "/vocabulary", label: "Vocabulary" }}
    >
      <Loaded query={vocabularies} what="the vocabularies">
        {(found) =>
          found.length === 0 ? (
            <EmptyState
              title="No version is saved yet"
              action={
                <ButtonLink href="/vocabulary" look="primary">
                  To the words
                </ButtonLink>
              }
            >
              Every word decides by its score alone. Rule on words and save them: that is the first version.
            </EmptyState>
          ) : (
            <Versions vocabularies={found} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Versions({ vocabularies }: { vocabularies: readonly Vocabulary[] }) {
  const [address, setAddress] = useSearchParams();
  const asked = address.get("name");
  const name = vocabularies.find((one) => one.name === asked)?.name ?? vocabularies[0]?.name ?? "";
  const versions = useQuery(vocabularyVersionsQuery(name));
  const [before, after] = [readId(address.get("before")), readId(address.get("after"))];

  function show(change: Record<string, string>) {
    setAddress((current) => {
      for (const [key, value] of Object.entries(change)) current.set(key, value);
      return current;
    });
  }

  return (
    <>
      {vocabularies.length > 1 && (
        <div className={styles.picker}>
          <SelectField
            label="Vocabulary"
            value={name}
            onChange={(next) => setAddress({ name: next })}
            options={vocabularies.map((one) => ({
              value: one.name,
              label: one.name,
              description: plural(one.version_count, "version"),
            }))}
          />
        </div>
      )}
      <Loaded query={versions} what="the versions">
        {(found) => (
          <>
            <History
              name={name}
              versions={found}
              onCompare={(first, second) => show({ name, before: String(first), after: String(second) })}
            />
            {found.length > 1 && (
              <Section title="Compare two" about="The words of which two versions say different things.">
                <div className={styles.picker}>
                  <VersionField
                    label="Before"
                    versions={found}
                    value={before}
                    onChange={(id) => show({ name, before: id })}
                  />
                  <VersionField
                    label="After"
                    versions={found}
                    value={after}
                    onChange={(id) => show({ name, after: id })}
                  />
                </div>
                {before !== null && after !== null && <Changes before={before} after={after} />}
              </Section>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

interface VersionFieldProps {
  label: string;
  versions: readonly VocabularySummary[];
  value: number | null;
  onChange: (id: string) => void;
}

function VersionField({ label, versions, value, onChange }: VersionFieldProps) {
  return (
    <SelectField
      label={label}
      value={value === null ? null : String(value)}
      onChange={onChange}
      options={versions.map(({ id, name, version, author, note }) => ({
        value: String(id),
        label: `${name} v${version}`,
        description: note ? `${author}: ${note}` : author,
      }))}
    />
  );
}

interface HistoryProps {
  name: string;
  versions: readonly VocabularySummary[];
  onCompare: (before: number, after: number) => void;
}

function History({ name, versions, onCompare }: HistoryProps) {
  const [reverting, setReverting] = useState<VocabularySummary>();
  const mayRule = useIsAllowed("rule");
  const [newest] = versions;
  const columns: Column<VocabularySummary>[] = [
    { id: "version", header: "Version", look: "fit", cell: ({ version }) => `v${version}` },
    { id: "when", header: "Saved", look: "fit", cell: ({ created_at }) => <Moment at={created_at} /> },
    { id: "by", header: "By", look: "fit", cell: ({ author }) => author },
    { id: "note", header: "What and why", look: "wide", cell: ({ note }) => (note ? <bdi>{note}</bdi> : "–") },
    {
      id: "allow",
      header: "Allowed",
      look: "number",
      cell: ({ allow_count }) => formatCount(allow_count),
      isSecondary: true,
    },
    {
      id: "block",
      header: "Blocked",
      look: "number",
      cell: ({ block_count }) => formatCount(block_count),
      isSecondary: true,
    },
    {
      id: "sense",
      header: "By sense",
      look: "number",
      cell: ({ sense_count }) => formatCount(sense_count),
      isSecondary: true,
    },
    {
      id: "actions",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: (one) => (
        <span className={`${styles.buttons} ${styles.inRow}`}>
          <ButtonLink isSmall href={`/vocabulary?version=${one.id}`}>
            Words
          </ButtonLink>
          {one.parent_id !== null && (
            <Button
              isSmall
              onPress={() => one.parent_id !== null && onCompare(one.parent_id, one.id)}
              aria-label={`Changes of v${one.version}`}
            >
              Changes
            </Button>
          )}
          <a
            href={csvAddress(name, one.version)}
            download
            className={`${button.button} ${button.plain} ${button.small}`}
          >
            CSV<span className={styles.spoken}> of v{one.version}</span>
          </a>
          {mayRule && newest && one.id !== newest.id && (
            <Button isSmall look="quiet" onPress={() => setReverting(one)} aria-label={`Go back to v${one.version}`}>
              Go back
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <Section title={`History of ${name}`} about="A version never changes. Jobs and exports name the one that they use.">
      <DataTable label="Versions" columns={columns} rows={versions} keyOf={({ id }) => id} />
      {!mayRule && <p className={styles.note}>Going back to a version needs the role of a curator.</p>}
      {newest && reverting && (
        <RevertDialog newest={newest} wanted={reverting} onClose={() => setReverting(undefined)} />
      )}
    </Section>
  );
}

interface RevertDialogProps {
  newest: VocabularySummary;
  wanted: VocabularySummary;
  onClose: () => void;
}

function RevertDialog({ newest, wanted, onClose }: RevertDialogProps) {
  const [note, setNote] = useState("");
  const revert = useRevertVocabulary(newest.name);
  return (
    <ConfirmDialog
      title={`Go back to v${wanted.version}?`}
      isOpen
      onClose={onClose}
      onConfirm={() =>
        revert.mutate(
          { based_on: newest.id, to_version: wanted.version, note: note.trim() },
          {
            onSuccess: (saved) => {
              tell(`${saved.name} v${saved.version} rules as v${wanted.version} did.`);
              onClose();
            },
          },
        )
      }
      confirm={`Save v${wanted.version} as the newest`}
      isPending={revert.isPending}
      error={revert.error}
    >
      <p>
        A new version is saved that rules as v{wanted.version} did. Those in between stay, and can be gone back to as
        well.
      </p>
      <TextField label="Why" value={note} onChange={setNote} maxLength={2_000} />
    </ConfirmDialog>
  );
}

const CHANGE_COLUMNS: readonly Column<WordChange>[] = [
  { id: "word", header: "Word", cell: ({ word }) => <bdi>{word}</bdi>, sortBy: ({ word }) => word },
  {
    id: "before",
    header: "Before",
    look: "wide",
    cell: ({ before, rule_before, note_before }) => <Said ruling={before} rule={rule_before} note={note_before} />,
  },
  {
    id: "after",
    header: "After",
    look: "wide",
    cell: ({ after, rule_after, note_after }) => <Said ruling={after} rule={rule_after} note={note_after} />,
  },
];

function Changes({ before, after }: { before: number; after: number }) {
  const changes = useQuery(wordChangesQuery(before, after));
  return (
    <Loaded query={changes} what="what changed">
      {(found) =>
        found.length === 0 ? (
          <p className={styles.note}>They say the same.</p>
        ) : (
          <DataTable label="What changed" columns={CHANGE_COLUMNS} rows={found} keyOf={({ word }) => word} />
        )
      }
    </Loaded>
  );
}

function Said({ ruling, rule, note }: { ruling: string | null; rule: SenseRule | null; note: string }) {
  const [plain] = (ruling ?? "").split(", ");
  return (
    <>
      {describeRuling(ruling)}
      {(rule || note) && (
        <RulingSummary
          edit={{
            word: rule?.term ?? "",
            ruling: plain === "allow" || plain === "block" ? plain : null,
            innocentIf: rule?.innocent_if ?? [],
            countsIf: rule?.counts_if ?? [],
            note: rule?.note || note,
          }}
        />
      )}
    </>
  );
}
