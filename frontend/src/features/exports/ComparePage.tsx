import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { comparisonQuery, exportChoicesQuery, hasFiles, type Difference, type ExportView } from "@/api/exports";
import { ButtonLink } from "@/components/Button";
import { SelectField, type Option } from "@/components/fields";
import { Figures } from "@/components/Figures";
import { Page, Section } from "@/components/Page";
import { EmptyState, Loaded } from "@/components/states";
import { describeRulings } from "@/words/exports";
import { formatCount, formatShortCount, plural } from "@/words/numbers";
import styles from "./exports.module.css";

const TOKENS = "Pieces of words, as language models count text, in these documents.";

export default function ComparePage() {
  const exports = useQuery(exportChoicesQuery);
  return (
    <Page
      title="Compare two exports"
      purpose="Which documents, tokens and words came in from one export to another, and which went."
      back={{ href: "/exports", label: "Exports" }}
    >
      <Loaded query={exports} what="the exports">
        {(found) => <Comparison exports={found.filter(hasFiles)} />}
      </Loaded>
    </Page>
  );
}

function Comparison({ exports }: { exports: readonly ExportView[] }) {
  const [query, setQuery] = useSearchParams();
  const before = exports.find(({ id }) => String(id) === query.get("before"));
  const after = exports.find(({ id }) => String(id) === query.get("after"));

  function choose(place: "before" | "after", id: string) {
    setQuery((current) => {
      current.set(place, id);
      return current;
    });
  }

  if (exports.length < 2) {
    return (
      <EmptyState title="It takes two" action={<ButtonLink href="/exports">To the exports</ButtonLink>}>
        Once two exports of one source are ready, they can be compared here.
      </EmptyState>
    );
  }
  return (
    <>
      <Section title="Which" about="Two exports of one source, by what their curricula hold.">
        <div className={styles.picker}>
          <SelectField
            label="Before"
            value={before ? String(before.id) : null}
            onChange={(id) => choose("before", id)}
            options={listOptions(exports, after)}
          />
          <SelectField
            label="After"
            value={after ? String(after.id) : null}
            onChange={(id) => choose("after", id)}
            options={listOptions(exports, before)}
          />
        </div>
      </Section>
      {before && after && before.id !== after.id && <Differences before={before} after={after} />}
    </>
  );
}

/** What can stand beside the other one: of its source, and not itself. */
function listOptions(exports: readonly ExportView[], other: ExportView | undefined): Option<string>[] {
  return exports
    .filter(({ id, source }) => !other || (source.id === other.source.id && id !== other.id))
    .map(({ id, source, profile, overrides_revision }) => ({
      value: String(id),
      label: `Export ${id}: ${source.name}`,
      description: `${profile.name} v${profile.version}, rulings: ${describeRulings(overrides_revision)}`,
    }));
}

function Differences({ before, after }: { before: ExportView; after: ExportView }) {
  const comparison = useQuery(comparisonQuery(before.id, after.id));
  return (
    <Loaded query={comparison} what="the differences">
      {({ common, gained, lost }) => (
        <>
          <Section
            title="Documents"
            actions={
              <>
                <Link href={`/exports/${before.id}`}>Export {before.id}</Link>
                <Link href={`/exports/${after.id}`}>Export {after.id}</Link>
              </>
            }
          >
            <Figures
              figures={[
                count("In both", common, "Documents that both curricula hold."),
                count("Came in", gained.documents, `Documents that only export ${after.id} holds.`),
                count("Tokens in", gained.tokens, TOKENS),
                count("Went out", lost.documents, `Documents that only export ${before.id} holds.`),
                count("Tokens out", lost.tokens, TOKENS),
              ]}
            />
            {gained.documents + lost.documents === 0 && <p className={styles.muted}>Both hold the same documents.</p>}
          </Section>
          <Terms title="Words that came in" difference={gained} />
          <Terms title="Words that went out" difference={lost} />
        </>
      )}
    </Loaded>
  );
}

function count(label: string, value: number, meaning: string) {
  return { label, value: formatShortCount(value), exact: formatCount(value), meaning };
}

function Terms({ title, difference: { documents, terms } }: { title: string; difference: Difference }) {
  if (documents === 0) return null;
  return (
    <Section
      title={title}
      about={`The words that say most about ${documents === 1 ? "this document" : "these documents"}, rare ones first, each with the number of documents that have it.`}
    >
      {terms.length > 0 ? (
        <ul className={styles.words} aria-label={title}>
          {terms.map(({ term, documents: count }) => (
            <li key={term}>
              <bdi>{term}</bdi>
              <span className={styles.count} title={plural(count, "document")}>
                {formatShortCount(count)}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p className={styles.muted}>None of the words that are counted stands in them.</p>
      )}
    </Section>
  );
}
