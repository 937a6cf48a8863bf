import { useEffect } from "react";
import { ConnectionBanner } from "./ConnectionBanner";
import styles from "./sign-in.module.css";
import { SignInForm } from "./SignInForm";

export function SignInPage() {
  useEffect(() => {
    document.title = "Sign in · Primer";
  }, []);
  return (
    <main>
      <ConnectionBanner />
      <div className={styles.page}>
        <div className={styles.card}>
          <div className={styles.brand}>
            <img src="/favicon.svg" alt="" width="34" height="34" />
            <h1>Primer</h1>
          </div>
          <p className={styles.note}>Sign in to curate texts that a finished fifth-grader can read.</p>
          <SignInForm />
        </div>
      </div>
    </main>
  );
}
