import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tokensQuery, useRevokeToken, type Token } from "@/api/tokens";
import { ROLE_TERMS, type StateTerm } from "@/words/terms";
import { Button } from "./Button";
import { DataTable, type Column } from "./DataTable";
import { Moment } from "./Moment";
import { ProblemMessage } from "./ProblemMessage";
import { Loaded } from "./states";
import { StateBadge } from "./StateBadge";
import styles from "./page.module.css";
import { tell } from "./toasts";

/** Tokens of a person, or one's own, and ending one. */
export function TokenTable({ userId }: { userId?: number }) {
  const tokens = useQuery(tokensQuery(userId));
  const revoke = useRevokeToken(userId);
  const [asked, setAsked] = useState<number>();
  const columns: Column<Token>[] = [
    { id: "name", header: "Name", cell: ({ name }) => name },
    { id: "prefix", header: "Begins with", look: "fit", cell: ({ prefix }) => <code>{prefix}</code> },
    { id: "role", header: "Role", look: "fit", cell: ({ role }) => ROLE_TERMS[role].label },
    { id: "state", header: "State", look: "fit", cell: (token) => <StateBadge term={describeState(token)} /> },
    {
      id: "used",
      header: "Last used",
      look: "fit",
      cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Moment at={last_used_at} />),
      isSecondary: true,
    },
    {
      id: "action",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: ({ id, name, is_live }) =>
        is_live && (
          <Button
            isSmall
            look={asked === id ? "danger" : "quiet"}
            isDisabled={revoke.isPending}
            aria-label={asked === id ? `Really revoke ${name}` : `Revoke ${name}`}
            onPress={() => {
              if (asked !== id) {
                setAsked(id);
                return;
              }
              revoke.mutate(id, { onSuccess: () => tell(`The token ${name} is revoked.`) });
            }}
          >
            {asked === id ? "Really revoke" : "Revoke"}
          </Button>
        ),
    },
  ];
  return (
    <>
      <Loaded query={tokens} what="the tokens">
        {(found) =>
          found.length > 0 ? (
            <DataTable label="Tokens" columns={columns} rows={found} keyOf={({ id }) => id} />
          ) : (
            <p className={styles.about}>There are none.</p>
          )
        }
      </Loaded>
      {revoke.error ? <ProblemMessage error={revoke.error} /> : null}
    </>
  );
}

function describeState({ is_live, revoked_at, expires_at }: Token): StateTerm {
  if (is_live)
    return {
      label: "In force",
      tone: "good",
      meaning: expires_at ? `Until ${new Date(expires_at).toLocaleDateString("en-GB")}.` : "For ever.",
    };
  if (revoked_at) return { label: "Revoked", tone: "neutral", meaning: "Ended by a person." };
  return { label: "Ended", tone: "neutral", meaning: "It ran out, or its owner's role or password changed." };
}
