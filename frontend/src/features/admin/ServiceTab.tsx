import { useQuery } from "@tanstack/react-query";
import { readinessQuery } from "@/api/status";
import { Facts } from "@/components/Figures";
import { Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import styles from "./admin.module.css";

const CHECKS: Record<string, { label: string; meaning: string }> = {
  database: { label: "Database", meaning: "Where sources, profiles, jobs and people are kept." },
  schema: { label: "Database's version", meaning: "It must be the version that this service was built for." },
  broker: {
    label: "Way to the workers",
    meaning: "By it workers hear of new work. Without it they find it later by themselves.",
  },
  data_folder: { label: "Data folder", meaning: "Where runs and exports are written." },
};

export function ServiceTab() {
  const readiness = useQuery(readinessQuery);
  return (
    <Section title="What the service needs" about="Looked at anew every half minute.">
      <Loaded query={readiness} what="the state of the service">
        {({ checks }) => (
          <Facts
            facts={Object.entries(checks).map(([name, found]) => ({
              label: CHECKS[name]?.label ?? name.replaceAll("_", " "),
              meaning: CHECKS[name]?.meaning ?? "",
              value: (
                <span className={found === "ok" ? styles.ok : styles.notOk}>{found === "ok" ? "works" : found}</span>
              ),
            }))}
          />
        )}
      </Loaded>
    </Section>
  );
}
