import type { ReactNode } from "react";
import { Focusable } from "react-aria-components/Focusable";
import { Tooltip, TooltipTrigger } from "react-aria-components/Tooltip";
import styles from "./explained.module.css";

interface ExplainedProps {
  meaning: string;
  children: ReactNode;
}

/** A word or number with its explanation, by hovering or by focus. */
export function Explained({ meaning, children }: ExplainedProps) {
  if (!meaning) return <>{children}</>;
  return (
    <TooltipTrigger delay={250} closeDelay={80}>
      <Focusable>
        <span className={styles.explained} role="button" tabIndex={0}>
          {children}
        </span>
      </Focusable>
      <Tooltip className={styles.tooltip} offset={6}>
        {meaning}
      </Tooltip>
    </TooltipTrigger>
  );
}
