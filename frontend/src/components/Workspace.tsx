import { useEffect, type ReactNode } from "react";
import styles from "./workspace.module.css";

interface WorkspaceProps {
  title: string;
  /** One sentence: what the page is for. */
  purpose: string;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page that fills the window, whose parts scroll by themselves. */
export function Workspace({ title, purpose, actions, children }: WorkspaceProps) {
  useEffect(() => {
    document.title = `${title} · Primer`;
  }, [title]);
  return (
    <div className={styles.workspace}>
      <header className={styles.head}>
        <div className={styles.titles}>
          <h1>{title}</h1>
          <p className={styles.purpose}>{purpose}</p>
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
