// Which role an action needs: docs/roles.md. The service decides; here it only spares people a button that is refused.
import type { Schemas } from "./client";
import { signIn } from "./session";
import { useStore } from "./store";

export type Role = Schemas["Role"];
export type Action = "rule" | "sources" | "profiles" | "jobs" | "exports" | "users" | "allow" | "audit_log";

export const ROLES: readonly Role[] = ["viewer", "curator", "operator", "admin"];

export const LEAST_ROLE: Record<Action, Role> = {
  rule: "curator",
  sources: "operator",
  profiles: "operator",
  jobs: "operator",
  exports: "operator",
  users: "admin",
  allow: "admin",
  audit_log: "admin",
};

export function isAllowed(role: Role, action: Action): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(LEAST_ROLE[action]);
}

export function useIsAllowed(action: Action): boolean {
  const now = useStore(signIn);
  return "session" in now && isAllowed(now.session.role, action);
}

/** The name of who is signed in; empty for nobody. */
export function useSignedInName(): string {
  const now = useStore(signIn);
  return "session" in now ? now.session.name : "";
}
