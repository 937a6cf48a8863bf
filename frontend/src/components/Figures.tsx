import type { ReactNode } from "react";
import { Explained } from "./Explained";
import styles from "./figures.module.css";

export interface Figure {
  label: string;
  value: string;
  unit?: string;
  meaning: string;
  /** The exact value, where the shown one is rounded. */
  exact?: string;
}

/** Numbers with their units, each explained. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map(({ label, value, unit, meaning, exact }) => (
        <div key={label} className={styles.figure}>
          <dd className={styles.value} title={exact}>
            {value}
            {unit && <span className={styles.unit}> {unit}</span>}
          </dd>
          <dt className={styles.label}>
            <Explained meaning={meaning}>{label}</Explained>
          </dt>
        </div>
      ))}
    </dl>
  );
}

export interface Fact {
  label: string;
  value: ReactNode;
  meaning?: string;
}

/** Names and values, line by line. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(({ label, value, meaning }) => (
        <FactRow key={label} label={label} value={value} meaning={meaning ?? ""} />
      ))}
    </dl>
  );
}

function FactRow({ label, value, meaning }: Required<Fact>) {
  return (
    <>
      <dt>
        <Explained meaning={meaning}>{label}</Explained>
      </dt>
      <dd>{value}</dd>
    </>
  );
}
