import type { ReactNode } from "react";
import { Button } from "react-aria-components/Button";
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

interface ExplainedButtonProps extends ExplainedProps {
  className?: string;
  onPress: () => void;
  isPressed?: boolean;
}

/** A heading or choice that can be pressed, with its explanation. */
export function ExplainedButton({ meaning, className, onPress, isPressed, children }: ExplainedButtonProps) {
  return (
    <TooltipTrigger delay={250} closeDelay={80}>
      <Button className={className} onPress={onPress} aria-pressed={isPressed}>
        {children}
      </Button>
      <Tooltip className={styles.tooltip} offset={6}>
        {meaning}
      </Tooltip>
    </TooltipTrigger>
  );
}
