import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useIsAllowed } from "@/api/roles";
import { rulesQuery } from "@/api/rules";
import { sourcesQuery } from "@/api/sources";
import { Button } from "@/components/Button";
import { Section } from "@/components/Page";
import { RuleForm } from "@/components/RuleForm";
import { RuleTable } from "@/components/RuleTable";
import { Loaded } from "@/components/states";
import styles from "./admin.module.css";

export function RulesTab() {
  const rules = useQuery(rulesQuery());
  const sources = useQuery(sourcesQuery);
  const [isAdding, setIsAdding] = useState(false);
  const mayAdd = useIsAllowed("sources");
  const names = new Map((sources.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <Section
      title="Source rules"
      about="Sites, addresses and licences whose documents no job keeps, whatever anybody rules. A rule is never deleted: retired, it stays to be read."
      actions={
        mayAdd && (
          <Button look="primary" isSmall onPress={() => setIsAdding(true)}>
            Add a rule
          </Button>
        )
      }
    >
      <Loaded query={rules} what="the rules">
        {(found) =>
          found.length > 0 ? (
            <RuleTable rules={found} sourceNames={names} />
          ) : (
            <p className={styles.muted}>There are no rules: every document is judged by its profile alone.</p>
          )
        }
      </Loaded>
      <RuleForm isOpen={isAdding} onClose={() => setIsAdding(false)} />
    </Section>
  );
}
