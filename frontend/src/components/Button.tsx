import type { ReactNode } from "react";
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components/Button";
import { Link } from "wouter";
import styles from "./button.module.css";

interface Look {
  look?: "primary" | "plain" | "quiet" | "danger";
  isSmall?: boolean;
}

function classOf({ look = "plain", isSmall }: Look): string {
  return [styles.button, styles[look], isSmall ? styles.small : ""].join(" ");
}

interface ButtonProps extends Omit<AriaButtonProps, "className" | "style">, Look {
  children: ReactNode;
}

export function Button({ look, isSmall, ...props }: ButtonProps) {
  return <AriaButton {...props} className={classOf({ look, isSmall })} />;
}

interface ButtonLinkProps extends Look {
  href: string;
  children: ReactNode;
}

/** A way to another page that looks like a button, because it is what people come for. */
export function ButtonLink({ href, children, ...look }: ButtonLinkProps) {
  return (
    <Link href={href} className={classOf(look)}>
      {children}
    </Link>
  );
}
