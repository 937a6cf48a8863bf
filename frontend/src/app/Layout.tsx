import { CircleUser, Keyboard, LogOut } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { endSession, type Session } from "@/api/session";
import { tellError } from "@/components/toasts";
import { ConnectionBanner } from "./ConnectionBanner";
import styles from "./layout.module.css";
import { isWithin, PLACE_GROUPS } from "./places";
import { ThemeSwitch } from "./ThemeSwitch";

interface LayoutProps {
  session: Session;
  onHelp: () => void;
  children: ReactNode;
}

export function Layout({ session, onHelp, children }: LayoutProps) {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shownPath = useRef(path);

  useEffect(() => {
    if (shownPath.current === path) return;
    shownPath.current = path;
    // A new page begins at its top, for eyes and for screen readers.
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path]);

  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        To the content
      </a>
      <header className={styles.rail}>
        <div className={styles.side}>
          <Link href="/" className={styles.brand} aria-label="Primer, overview">
            <img src="/favicon.svg" alt="" width="26" height="26" />
            <span>Primer</span>
          </Link>
          <nav className={styles.nav} aria-label="Pages">
            {PLACE_GROUPS.map(({ label, places }) => (
              <div key={label}>
                <p className={styles.groupLabel} id={nameGroup(label)}>
                  {label}
                </p>
                <ul className={styles.places} aria-labelledby={nameGroup(label)}>
                  {places.map(({ href, label: name, letter, icon: Icon }) => (
                    <li key={href}>
                      <Link
                        href={href}
                        className={styles.place}
                        aria-current={isWithin(path, href) ? "page" : undefined}
                        title={`g ${letter}`}
                      >
                        <Icon size={18} aria-hidden />
                        {name}
                      </Link>
                    </li>
                  ))}
                </ul>
              </div>
            ))}
          </nav>
          <div className={styles.foot}>
            <ThemeSwitch />
            <button type="button" className={`${styles.place} ${styles.footButton}`} onClick={onHelp} title="?">
              <Keyboard size={18} aria-hidden />
              Shortcuts
            </button>
            <Link
              href="/account"
              className={styles.place}
              aria-current={path === "/account" ? "page" : undefined}
              title={`${session.name}, ${session.role}`}
            >
              <CircleUser size={18} aria-hidden />
              <span className={styles.who}>{session.name}</span>
            </Link>
            <button
              type="button"
              className={`${styles.place} ${styles.footButton}`}
              onClick={() => endSession().catch(tellError)}
            >
              <LogOut size={18} aria-hidden />
              Sign out
            </button>
          </div>
        </div>
      </header>
      <main className={styles.main} id="main" tabIndex={-1} ref={main}>
        <ConnectionBanner />
        {children}
      </main>
    </div>
  );
}

function nameGroup(label: string): string {
  return `group-${label.toLowerCase().replaceAll(" ", "-")}`;
}
