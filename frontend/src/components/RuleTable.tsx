import { useState } from "react";
import { useIsAllowed } from "@/api/roles";
import { useRetireRule, type Rule } from "@/api/rules";
import { RULE_KINDS } from "@/words/terms";
import { Button } from "./Button";
import { DataTable, type Column } from "./DataTable";
import { ConfirmDialog } from "./Dialog";
import { Moment } from "./Moment";
import { tell } from "./toasts";

interface RuleTableProps {
  rules: readonly Rule[];
  /** Names of sources by id, where rules of several are shown. */
  sourceNames?: ReadonlyMap<number, string>;
}

/** Source rules, and letting one bind no longer. */
export function RuleTable({ rules, sourceNames }: RuleTableProps) {
  const [retiring, setRetiring] = useState<Rule>();
  const retire = useRetireRule();
  const mayRetire = useIsAllowed("sources");
  const columns: Column<Rule>[] = [
    {
      id: "kind",
      header: "What",
      cell: ({ kind }) => <span title={RULE_KINDS[kind].meaning}>{RULE_KINDS[kind].label}</span>,
      look: "fit",
    },
    { id: "value", header: "Which", cell: ({ value }) => <code>{value}</code> },
    { id: "reason", header: "Why", cell: ({ reason }) => reason },
    {
      id: "source",
      header: "Binds",
      cell: ({ source_id }) =>
        source_id === null
          ? "all sources"
          : (sourceNames?.get(source_id) ?? (sourceNames ? `source ${source_id}` : "this source")),
      look: "fit",
    },
    { id: "by", header: "Added by", cell: ({ created_by }) => created_by, isSecondary: true },
    {
      id: "when",
      header: "Added",
      cell: ({ created_at }) => <Moment at={created_at} />,
      look: "fit",
      isSecondary: true,
    },
    {
      id: "action",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: (rule) =>
        rule.retired_at !== null ? (
          <>
            retired <Moment at={rule.retired_at} />
          </>
        ) : (
          mayRetire && (
            <Button
              isSmall
              look="quiet"
              onPress={() => setRetiring(rule)}
              aria-label={`Retire the rule for ${rule.value}`}
            >
              Retire
            </Button>
          )
        ),
    },
  ];
  return (
    <>
      <DataTable label="Source rules" columns={columns} rows={rules} keyOf={({ id }) => id} />
      <ConfirmDialog
        title="Retire the rule?"
        isOpen={retiring !== undefined}
        onClose={() => {
          setRetiring(undefined);
          retire.reset();
        }}
        confirm="Retire the rule"
        isPending={retire.isPending}
        error={retire.error}
        onConfirm={() => {
          if (!retiring) return;
          retire.mutate(retiring.id, {
            onSuccess: () => {
              tell("The rule binds no job that starts from now on.");
              setRetiring(undefined);
            },
          });
        }}
      >
        <p>
          Documents of <code>{retiring?.value}</code> may be kept again by jobs that start from now on. Those before
          stay as they are.
        </p>
      </ConfirmDialog>
    </>
  );
}
