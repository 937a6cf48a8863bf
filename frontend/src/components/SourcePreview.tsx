import { useQuery } from "@tanstack/react-query";
import { previewQuery, type Preview, type Source } from "@/api/sources";
import { plural } from "@/words/numbers";
import styles from "./preview.module.css";
import { Loaded } from "./states";

interface SourcePreviewProps {
  source: Source;
  /** Rows that are shown. */
  most?: number;
}

/** The columns and first rows of a source. What documents say is shown as text and never as anything else. */
export function SourcePreview({ source, most = Infinity }: SourcePreviewProps) {
  const preview = useQuery(previewQuery(source.id));
  return (
    <Loaded query={preview} what="the first rows">
      {(found) => <FirstRows preview={{ ...found, rows: found.rows.slice(0, most) }} textField={source.text_field} />}
    </Loaded>
  );
}

function FirstRows({ preview, textField }: { preview: Preview; textField: string }) {
  return (
    <div className={styles.records}>
      <ul className={styles.columns} aria-label="Columns of the source">
        {preview.columns.map(({ name, type }) => (
          <li
            key={name}
            className={name === textField ? styles.isText : undefined}
            title={name === textField ? "The column whose text is measured" : undefined}
          >
            {name} <code>{type}</code>
          </li>
        ))}
      </ul>
      {preview.notes.map((note) => (
        <p key={note} className={styles.notes}>
          {note}
        </p>
      ))}
      {preview.rows.map((row, place) => (
        <Record key={place} row={row} textField={textField} />
      ))}
      {preview.rows.length === 0 && <p>No row can be shown.</p>}
      {preview.rows.length > 0 && !preview.columns.some(({ name }) => name === textField) && (
        <p className={styles.notes}>
          No column is called {textField}: {plural(preview.rows.length, "row")} without a text to measure.
        </p>
      )}
    </div>
  );
}

function Record({ row, textField }: { row: Record<string, unknown>; textField: string }) {
  const others = Object.entries(row).filter(([name, value]) => name !== textField && value !== null);
  return (
    <article className={styles.record}>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- long texts are scrolled by keys as well */}
      <div className={styles.text} dir="auto" tabIndex={0} role="group" aria-label="Text of the document">
        {show(row[textField]) || "(no text)"}
      </div>
      {others.length > 0 && (
        <div className={styles.others}>
          {others.map(([name, value]) => (
            <span key={name}>
              {name}: <b>{show(value)}</b>
            </span>
          ))}
        </div>
      )}
    </article>
  );
}

function show(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
