import { useQuery } from "@tanstack/react-query";
import { Check, Split, Undo2, X } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { DecisionChoice } from "@/api/documents";
import { useIsAllowed } from "@/api/roles";
import { wordQuery, type Rulings, type WordDetail } from "@/api/vocabularies";
import { Button } from "@/components/Button";
import { Figures, type Figure } from "@/components/Figures";
import { Indexed } from "@/components/Waiting";
import { describeSubject } from "@/words/concepts";
import { formatCount, formatShortCount, plural } from "@/words/numbers";
import { describeCounts, explainScore, formatKeptShare, formatScore, WORD_ORDERS } from "@/words/vocabulary";
import type { Places } from "./address";
import { findEdit, isUnruled, nameRuling, readEdit, type Edits } from "./edits";
import { PlacesSection } from "./PlacesSection";
import { RulingMark } from "./RulingMark";
import { RulingSummary } from "./RulingSummary";
import styles from "./vocabulary.module.css";

export type RulingVerb = "allow" | "block" | "sense" | "none";

interface WordPaneProps {
  jobId: number;
  choice: DecisionChoice;
  versionId: number | null;
  word: string;
  base: Rulings;
  edits: Edits;
  places: Places;
  onPlaces: (places: Places) => void;
  onWord: (word: string) => void;
  onRule: (verb: RulingVerb) => void;
  onTakeBack: () => void;
}

/** One word: what it costs, what is ruled, its other forms, and where it stands. */
export function WordPane(props: WordPaneProps) {
  const { jobId, choice, word, base, edits, places, onPlaces, onWord, onRule, onTakeBack } = props;
  const detail = useQuery(wordQuery(jobId, choice, word));
  const mayRule = useIsAllowed("rule");
  const edit = findEdit(edits, word);
  const ruled = edit ?? readEdit(base, word);
  return (
    <div className={styles.pane}>
      <header className={styles.paneHead}>
        <h2>
          <bdi>{word}</bdi> <RulingMark ruling={nameRuling(ruled)} isEdit={edit !== undefined} />
        </h2>
        {mayRule ? (
          <div className={styles.buttons} role="group" aria-label="Rule on this word">
            <Button isSmall onPress={() => onRule("allow")}>
              <Check size={15} aria-hidden /> Allow
            </Button>
            <Button isSmall onPress={() => onRule("block")}>
              <X size={15} aria-hidden /> Block
            </Button>
            <Button isSmall onPress={() => onRule("sense")}>
              <Split size={15} aria-hidden /> By sense
            </Button>
            {edit ? (
              <Button isSmall look="quiet" onPress={onTakeBack}>
                <Undo2 size={15} aria-hidden /> Take back
              </Button>
            ) : (
              !isUnruled(ruled) && (
                <Button isSmall look="quiet" onPress={() => onRule("none")}>
                  No ruling
                </Button>
              )
            )}
          </div>
        ) : (
          <p className={styles.note}>Ruling on words needs the role of a curator.</p>
        )}
      </header>
      {!isUnruled(ruled) && <RulingSummary edit={ruled} />}
      <Indexed query={detail} what="the word">
        {(found) => (
          <>
            <WordFigures detail={found} />
            <p className={styles.links}>
              <Link href={nameDocuments(props, { word })}>Its {plural(found.documents, "document")}</Link>
              {found.figures !== null && found.figures.sole_documents + found.figures.several_documents > 0 && (
                <Link href={nameDocuments(props, { word, cause: "vocabulary", alone: "certain" })}>
                  Those that only words exclude
                </Link>
              )}
            </p>
            <Related detail={found} onWord={onWord} />
          </>
        )}
      </Indexed>
      <PlacesSection
        jobId={jobId}
        choice={choice}
        versionId={props.versionId}
        word={word}
        places={places}
        onChange={onPlaces}
      />
    </div>
  );
}

function nameDocuments({ jobId, versionId }: WordPaneProps, query: Record<string, string>): string {
  const address = new URLSearchParams(query);
  if (versionId !== null) address.set("words", String(versionId));
  return `/documents/${jobId}?${address}`;
}

function WordFigures({ detail: { figures, documents } }: { detail: WordDetail }): ReactNode {
  if (figures === null) {
    return (
      <p className={styles.note}>
        {documents === 0
          ? "No document of this job holds the word."
          : `${plural(documents, "document holds", "documents hold")} the word. It counts in none of them: its score is below the threshold, or it is allowed.`}
      </p>
    );
  }
  const count = (label: string, value: number, meaning: string, unit: string): Figure => ({
    label,
    value: formatShortCount(value),
    exact: formatCount(value),
    meaning,
    unit: value === 1 ? unit : `${unit}s`,
  });
  const shown: Figure[] = [
    count("Lost by it alone", figures.sole_documents, WORD_ORDERS.sole_documents.meaning, "document"),
    count("Tokens lost", figures.sole_tokens, WORD_ORDERS.sole_tokens.meaning, "token"),
    count("With other words", figures.several_documents, WORD_ORDERS.several_documents.meaning, "document"),
    count("Counts in", figures.hit_documents, WORD_ORDERS.hit_documents.meaning, "document"),
    {
      label: "Of what is kept",
      value: formatKeptShare(figures.kept_share),
      exact: `${formatCount(figures.kept_documents)} documents, ${formatCount(figures.kept_tokens)} tokens`,
      meaning: `Share of the kept documents that hold the word: ${plural(figures.kept_documents, "document")}, ${formatKeptShare(figures.kept_token_share)} of the kept tokens.`,
    },
    {
      label: "Score",
      value: formatScore(figures),
      unit: figures.score === null ? undefined : "points",
      meaning: `${explainScore(figures)}. ${describeCounts(figures.counts)}.`,
    },
  ];
  if (figures.maybe_sole_documents > 0) {
    shown.splice(
      2,
      0,
      count(
        "Perhaps by it alone",
        figures.maybe_sole_documents,
        "The same, but something else was not measured: allowing the word leaves them undecided.",
        "document",
      ),
    );
  }
  return (
    <>
      <Figures figures={shown} />
      <p className={styles.note}>
        {describeCounts(figures.counts)}.
        {figures.subjects.length > 0 &&
          ` A term of concepts in ${figures.subjects.map((subject) => describeSubject(subject).toLowerCase()).join(", ")}.`}
      </p>
    </>
  );
}

/** Other forms of the word; each leads to its own place here. */
function Related({ detail: { related }, onWord }: { detail: WordDetail; onWord: (word: string) => void }) {
  if (related.length === 0) return null;
  return (
    <section className={styles.related} aria-label="Related forms">
      <h3>Related forms</h3>
      <ul>
        {related.map((form) => (
          <li key={form.word}>
            <Button isSmall onPress={() => onWord(form.word)}>
              <bdi>{form.word}</bdi>
              <span className={styles.note} title="Documents with it">
                {formatShortCount(form.documents)}
                <span className={styles.spoken}> documents</span>
              </span>
            </Button>
            <span
              className={form.is_blocked ? styles.counts : styles.note}
              title={form.is_blocked ? `It counts against a text. ${explainScore(form)}.` : explainScore(form)}
            >
              {form.is_blocked ? "counts" : "does not count"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
