import { useMemo, useState, type DragEvent } from "react";
import { MOST_CHARACTERS, useTryText } from "@/api/texts";
import { Button } from "@/components/Button";
import { TextField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { measureDistances } from "@/components/reading/distances";
import { ReadingPane } from "@/components/reading/ReadingPane";
import { EmptyState, Loading } from "@/components/states";
import { tell } from "@/components/toasts";
import { VersionPicker } from "@/components/VersionPicker";
import { formatCount } from "@/words/numbers";
import { countCharacters, readTextFile } from "./text-file";
import styles from "./try.module.css";

/** A text and what is measured of it. Nothing leaves the page but the question, and nothing of it is kept. */
export default function TryPage() {
  const [text, setText] = useState("");
  const [profileId, setProfileId] = useState<number | null>(null);
  const [isOver, setIsOver] = useState(false);
  const attempt = useTryText();
  const characters = useMemo(() => countCharacters(text), [text]);
  const isTooLong = characters > MOST_CHARACTERS;
  const isOutdated = attempt.variables?.text !== text || attempt.variables.profileId !== profileId;

  function measure(asked: string, id: number | null) {
    if (asked.trim() !== "" && countCharacters(asked) <= MOST_CHARACTERS)
      attempt.mutate({ text: asked, profileId: id });
  }

  async function drop(event: DragEvent) {
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    const dropped = file ? await readTextFile(file) : { text: event.dataTransfer.getData("text/plain") };
    if ("problem" in dropped) {
      tell(dropped.problem);
      return;
    }
    if (!dropped.text) return;
    setText(dropped.text);
    measure(dropped.text, profileId);
  }

  return (
    <Page
      title="Try a text"
      purpose="Paste or drop a text and see what is measured and decided at once. Nothing of it is kept."
    >
      <div className={styles.two}>
        <div
          className={isOver ? styles.over : undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setIsOver(true);
          }}
          onDragLeave={() => setIsOver(false)}
          onDrop={(event) => void drop(event)}
          onPaste={(event) => {
            // Into an empty field: the whole text is there, and is measured without asking.
            const pasted = event.clipboardData.getData("text/plain");
            if (text === "") measure(pasted, profileId);
          }}
        >
          <Section title="Text">
            <TextField
              label="A text, as it would stand in a source"
              value={text}
              onChange={setText}
              lines="text"
              rows={16}
              placeholder="Paste or write a text, or drop a text file here."
              error={
                isTooLong
                  ? `The text has ${formatCount(characters)} characters; at most ${formatCount(MOST_CHARACTERS)} can be tried.`
                  : undefined
              }
              description={`${formatCount(characters)} characters`}
            />
            <VersionPicker
              label="Decided by"
              own="recommended, as it came with Primer"
              value={profileId}
              onChange={(id) => {
                setProfileId(id);
                if (attempt.data) measure(text, id);
              }}
              isLabelShown
            />
            <div className={styles.buttons}>
              <Button
                look="primary"
                isDisabled={text.trim() === "" || isTooLong || attempt.isPending}
                onPress={() => measure(text, profileId)}
              >
                {attempt.isPending ? "Measuring…" : "Measure"}
              </Button>
              <label className={styles.file}>
                Choose a file
                <input
                  type="file"
                  accept="text/*,.txt,.md"
                  onChange={async (event) => {
                    const [file] = event.target.files ?? [];
                    event.target.value = "";
                    if (!file) return;
                    const read = await readTextFile(file);
                    if ("problem" in read) {
                      tell(read.problem);
                      return;
                    }
                    setText(read.text);
                    measure(read.text, profileId);
                  }}
                />
              </label>
            </div>
          </Section>
        </div>
        <section className={styles.result} aria-label="What is decided" aria-busy={attempt.isPending}>
          {attempt.error ? <ProblemMessage error={attempt.error} onRetry={() => measure(text, profileId)} /> : null}
          {attempt.isPending && (
            <>
              <Loading what="the measurement" />
              <p className={styles.muted}>The first text takes a little longer: the graders are loaded for it.</p>
            </>
          )}
          {!attempt.isPending && !attempt.data && !attempt.error && (
            <EmptyState title="Nothing measured yet">
              What is decided and why is shown here, with what speaks against the text marked in it.
            </EmptyState>
          )}
          {attempt.data && !attempt.isPending && (
            <ReadingPane
              decision={attempt.data}
              explanation={attempt.data}
              distances={measureDistances(attempt.data)}
              soleCause={
                attempt.data.kept === false && attempt.data.excluded_by.length === 1
                  ? (attempt.data.excluded_by[0] ?? null)
                  : null
              }
              isSoleCertain={attempt.data.stages.every(({ verdict }) => verdict !== "unknown")}
              sourceText={attempt.variables?.text}
              head={
                <p className={styles.muted}>
                  {isOutdated ? "Of the text as it was when it was measured, " : "Decided "}by {attempt.data.profile}
                </p>
              }
            />
          )}
        </section>
      </div>
    </Page>
  );
}
