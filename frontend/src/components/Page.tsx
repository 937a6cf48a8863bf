import { useEffect, type ReactNode } from "react";
import { Link } from "wouter";
import styles from "./page.module.css";

interface PageProps {
  title: string;
  /** One sentence: what the page is for. */
  purpose: string;
  /** Beside the title: a state. */
  badge?: ReactNode;
  actions?: ReactNode;
  back?: { href: string; label: string };
  children: ReactNode;
}

export function Page({ title, purpose, badge, actions, back, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Primer`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.titles}>
          {back && (
            <Link href={back.href} className={styles.crumb}>
              ← {back.label}
            </Link>
          )}
          <div className={styles.title}>
            <h1>{title}</h1>
            {badge}
          </div>
          <p className={styles.purpose}>{purpose}</p>
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, about, actions, children }: SectionProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <div className={styles.sectionHead}>
        <h2>{title}</h2>
        {actions && <div className={styles.actions}>{actions}</div>}
      </div>
      {about && <p className={styles.about}>{about}</p>}
      {children}
    </section>
  );
}
