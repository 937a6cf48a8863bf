import type { ComponentType } from "react";
import { Link, useParams } from "wouter";
import { useIsAllowed, type Action } from "@/api/roles";
import { Page } from "@/components/Page";
import { EmptyState } from "@/components/states";
import styles from "./admin.module.css";
import { AuditTab } from "./AuditTab";
import { ModelsTab } from "./ModelsTab";
import { PlacesTab } from "./PlacesTab";
import { RulesTab } from "./RulesTab";
import { ServiceTab } from "./ServiceTab";
import { UsersTab } from "./UsersTab";
import { WorkTab } from "./WorkTab";

interface AdminTab {
  id: string;
  label: string;
  action: Action | undefined;
  content: ComponentType;
}

const TABS: readonly AdminTab[] = [
  { id: "users", label: "People", action: "users", content: UsersTab },
  { id: "places", label: "Allowed places", action: "allow", content: PlacesTab },
  { id: "rules", label: "Source rules", action: undefined, content: RulesTab },
  { id: "audit", label: "Audit log", action: "audit_log", content: AuditTab },
  { id: "work", label: "Workers and queues", action: "jobs", content: WorkTab },
  { id: "models", label: "Models", action: undefined, content: ModelsTab },
  { id: "service", label: "Service", action: undefined, content: ServiceTab },
];

export default function AdminPage() {
  const { tab } = useParams<{ tab: string }>();
  const shown = TABS.find(({ id }) => id === tab);
  return (
    <Page
      title="Admin"
      purpose="Who may do what, which places may be read, what is never kept, who changed what, and how the service does."
    >
      <nav className={styles.tabs} aria-label="Admin">
        {TABS.map(({ id, label }) => (
          <Link key={id} href={`/admin/${id}`} className={styles.tab} aria-current={id === tab ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {shown && <TabContent key={shown.id} tab={shown} />}
    </Page>
  );
}

function TabContent({ tab: { action, content: Content } }: { tab: AdminTab }) {
  const isAllowed = useIsAllowed(action ?? "rule") || action === undefined;
  if (!isAllowed) {
    return (
      <EmptyState title="Not for your role">Your role does not include this. Ask an admin if you need it.</EmptyState>
    );
  }
  return <Content />;
}
