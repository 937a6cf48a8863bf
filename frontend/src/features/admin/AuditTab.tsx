import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { auditCsvAddress, auditQuery, type AuditEntry, type AuditFilter } from "@/api/audit";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { FieldRow, Form, FormButtons, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { describeAction, describeSubject } from "@/words/terms";
import styles from "./admin.module.css";
import { describeChanges } from "./changes";

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: "when", header: "When", look: "fit", cell: ({ at }) => <Moment at={at} /> },
  { id: "who", header: "Who", look: "fit", cell: ({ user_name }) => user_name },
  {
    id: "what",
    header: "What",
    look: "fit",
    cell: ({ action }) => <span title={action}>{describeAction(action)}</span>,
  },
  { id: "which", header: "Which", look: "fit", cell: ({ subject }) => describeSubject(subject) },
  {
    id: "change",
    header: "From, to",
    look: "wide",
    cell: ({ before, after }) => <p className={styles.change}>{describeChanges(before, after)}</p>,
  },
];

export function AuditTab() {
  const [user, setUser] = useState("");
  const [subject, setSubject] = useState("");
  const [filter, setFilter] = useState<AuditFilter>({});
  const entries = useInfiniteQuery(auditQuery(filter));
  return (
    <Section
      title="Audit log"
      about="Every change, the newest first. Entries are written with the change itself and never altered."
      actions={
        <a href={auditCsvAddress(filter)} download>
          Download as CSV
        </a>
      }
    >
      <Form
        label="Find entries"
        onSubmit={() =>
          setFilter({
            ...(user.trim() ? { user: user.trim() } : {}),
            ...(subject.trim() ? { subject: subject.trim().replace(" ", "/") } : {}),
          })
        }
      >
        <FieldRow>
          <TextField label="Who" type="search" value={user} onChange={setUser} placeholder="anna.berg" />
          <TextField label="Which" type="search" value={subject} onChange={setSubject} placeholder="job 3" />
        </FieldRow>
        <FormButtons>
          <Button type="submit" isSmall>
            Find
          </Button>
          {(filter.user ?? filter.subject) && (
            <Button
              isSmall
              look="quiet"
              onPress={() => {
                setUser("");
                setSubject("");
                setFilter({});
              }}
            >
              Show all
            </Button>
          )}
        </FormButtons>
      </Form>
      <Loaded query={entries} what="the audit log">
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items);
          return rows.length > 0 ? (
            <DataTable
              label="Audit log"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              onMore={entries.hasNextPage ? () => void entries.fetchNextPage() : undefined}
              isLoadingMore={entries.isFetchingNextPage}
            />
          ) : (
            <p className={styles.muted}>Nothing like that happened.</p>
          );
        }}
      </Loaded>
    </Section>
  );
}
