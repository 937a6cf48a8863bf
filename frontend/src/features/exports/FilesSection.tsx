import { useMemo, useState } from "react";
import { checksumsAddress, fileAddress, type ExportFile } from "@/api/exports";
import { CopyButton } from "@/components/CopyButton";
import { DataTable, type Column } from "@/components/DataTable";
import { Section } from "@/components/Page";
import { describeFile } from "@/words/exports";
import { formatBytes, formatCount, formatShortCount } from "@/words/numbers";
import styles from "./exports.module.css";

const AT_ONCE = 100;
const SHOWN_OF_HASH = 12;

export function FilesSection({ exportId, files }: { exportId: number; files: readonly ExportFile[] }) {
  const [most, setMost] = useState(AT_ONCE);
  const columns = useMemo(() => listColumns(exportId), [exportId]);
  return (
    <Section
      title="Files"
      about={
        <>
          The SHA-256 of a file tells whether a download is whole: <code>sha256sum -c</code> compares all of them with
          the list of hashes.
        </>
      }
      actions={
        <a href={checksumsAddress(exportId)} download={`export-${exportId}.sha256`}>
          All hashes
        </a>
      }
    >
      <DataTable
        label="Files"
        columns={columns}
        rows={files.slice(0, most)}
        keyOf={({ path }) => path}
        onMore={most < files.length ? () => setMost(most + AT_ONCE) : undefined}
      />
    </Section>
  );
}

function listColumns(exportId: number): readonly Column<ExportFile>[] {
  return [
    {
      id: "file",
      header: "File",
      cell: ({ path }) => (
        <a href={fileAddress(exportId, path)} download className={styles.file} title={`Download ${path}`}>
          {path.replace(/^data\//, "")}
        </a>
      ),
    },
    { id: "part", header: "Part", look: "fit", cell: describeFile, isSecondary: true },
    {
      id: "documents",
      header: "Documents",
      look: "number",
      cell: ({ rows }) => (rows === null ? "–" : formatCount(rows)),
    },
    {
      id: "tokens",
      header: "Tokens",
      look: "number",
      cell: ({ tokens }) =>
        tokens === null ? "–" : <span title={formatCount(tokens)}>{formatShortCount(tokens)}</span>,
    },
    {
      id: "size",
      header: "Size",
      look: "number",
      cell: ({ size_bytes: bytes }) => <span title={`${formatCount(bytes)} bytes`}>{formatBytes(bytes)}</span>,
    },
    {
      id: "sha256",
      header: "SHA-256",
      look: "fit",
      cell: ({ sha256, path }) => (
        <span className={styles.hash}>
          <code title={sha256}>{sha256.slice(0, SHOWN_OF_HASH)}…</code>
          <CopyButton text={sha256} what={`the SHA-256 of ${path}`} isIcon />
        </span>
      ),
    },
  ];
}
