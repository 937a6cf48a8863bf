import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ROLES, type Role } from "@/api/roles";
import { useChangeUser, useCreateUser, useSetPassword, usersQuery, type User } from "@/api/users";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { ConfirmDialog, Dialog } from "@/components/Dialog";
import { Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { tell } from "@/components/toasts";
import { TokenTable } from "@/components/TokenTable";
import { ROLE_TERMS } from "@/words/terms";
import styles from "./admin.module.css";

const ROLE_OPTIONS = ROLES.map((role) => ({
  value: role,
  label: ROLE_TERMS[role].label,
  description: ROLE_TERMS[role].meaning,
}));

type Doing = { what: "add" } | { what: "role" | "password" | "tokens" | "shut"; user: User };

export function UsersTab() {
  const users = useQuery(usersQuery);
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  return (
    <Section
      title="People"
      about="A new role or password, or being shut out, ends all of a person's sessions and tokens at once."
      actions={
        <Button look="primary" isSmall onPress={() => setDoing({ what: "add" })}>
          Add a person
        </Button>
      }
    >
      <Loaded query={users} what="the people">
        {(found) => (
          <DataTable label="People" columns={describeColumns(setDoing)} rows={found} keyOf={({ id }) => id} />
        )}
      </Loaded>
      <Dialog title="Add a person" isOpen={doing?.what === "add"} onClose={close}>
        <AddUser onClose={close} />
      </Dialog>
      <UserDialogs doing={doing} onClose={close} />
    </Section>
  );
}

function describeColumns(start: (doing: Doing) => void): Column<User>[] {
  return [
    { id: "name", header: "Name", cell: ({ name }) => name, sortBy: ({ name }) => name },
    {
      id: "role",
      header: "Role",
      cell: ({ role }) => <span title={ROLE_TERMS[role].meaning}>{ROLE_TERMS[role].label}</span>,
      sortBy: ({ role }) => ROLES.indexOf(role),
    },
    {
      id: "state",
      header: "State",
      look: "fit",
      cell: ({ is_active }) => (
        <StateBadge
          term={
            is_active
              ? { label: "May sign in", tone: "good", meaning: "Name and password let this person in." }
              : { label: "Shut out", tone: "neutral", meaning: "Cannot sign in; what they did stays." }
          }
        />
      ),
    },
    {
      id: "added",
      header: "Added",
      look: "fit",
      cell: ({ created_at }) => <Moment at={created_at} />,
      isSecondary: true,
    },
    {
      id: "actions",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: (user) => (
        <div className={styles.rowButtons}>
          <Button
            isSmall
            look="quiet"
            onPress={() => start({ what: "role", user })}
            aria-label={`Role of ${user.name}`}
          >
            Role
          </Button>
          <Button
            isSmall
            look="quiet"
            onPress={() => start({ what: "password", user })}
            aria-label={`Password of ${user.name}`}
          >
            Password
          </Button>
          <Button
            isSmall
            look="quiet"
            onPress={() => start({ what: "tokens", user })}
            aria-label={`Tokens of ${user.name}`}
          >
            Tokens
          </Button>
          <Button
            isSmall
            look="quiet"
            onPress={() => start({ what: "shut", user })}
            aria-label={user.is_active ? `Shut out ${user.name}` : `Let in ${user.name}`}
          >
            {user.is_active ? "Shut out" : "Let in"}
          </Button>
        </div>
      ),
    },
  ];
}

function UserDialogs({ doing, onClose }: { doing: Doing | undefined; onClose: () => void }) {
  const change = useChangeUser();
  const user = doing && "user" in doing ? doing.user : undefined;
  const close = () => {
    change.reset();
    onClose();
  };
  return (
    <>
      <Dialog title={`Role of ${user?.name ?? ""}`} isOpen={doing?.what === "role"} onClose={close}>
        {user && <ChangeRole user={user} onClose={close} />}
      </Dialog>
      <Dialog title={`New password for ${user?.name ?? ""}`} isOpen={doing?.what === "password"} onClose={close}>
        {user && <SetPassword user={user} onClose={close} />}
      </Dialog>
      <Dialog title={`Tokens of ${user?.name ?? ""}`} isOpen={doing?.what === "tokens"} onClose={close} isWide>
        {user && <TokenTable userId={user.id} />}
        <FormButtons>
          <Button onPress={close}>Close</Button>
        </FormButtons>
      </Dialog>
      <ConfirmDialog
        title={user?.is_active ? `Shut out ${user.name}?` : `Let ${user?.name ?? ""} in again?`}
        isOpen={doing?.what === "shut"}
        onClose={close}
        confirm={user?.is_active ? "Shut out" : "Let in"}
        isDangerous={user?.is_active}
        isPending={change.isPending}
        error={change.error}
        onConfirm={() => {
          if (!user) return;
          change.mutate(
            { id: user.id, is_active: !user.is_active },
            {
              onSuccess: () => {
                tell(user.is_active ? `${user.name} is shut out.` : `${user.name} may sign in again.`);
                close();
              },
            },
          );
        }}
      >
        <p>
          {user?.is_active ? "Sessions and tokens end at once. What they did stays." : "The old password holds again."}
        </p>
      </ConfirmDialog>
    </>
  );
}

const MIN_PASSWORD = 12;
const PASSWORD_HELP = `At least ${MIN_PASSWORD} characters; several words are easy to keep in mind.`;

function AddUser({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("curator");
  const [password, setPassword] = useState("");
  const create = useCreateUser();
  return (
    <Form
      label="Add a person"
      onSubmit={() =>
        create.mutate(
          { name: name.trim(), role, password },
          {
            onSuccess: (user) => {
              tell(`${user.name} may sign in. Hand over the password.`);
              onClose();
            },
          },
        )
      }
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        description="Small letters, digits, and . _ @ - such as anna.berg."
        autoComplete="off"
        isRequired
        autoFocus
      />
      <SelectField label="Role" value={role} onChange={setRole} options={ROLE_OPTIONS} />
      <TextField
        label="First password"
        type="password"
        value={password}
        onChange={setPassword}
        description={PASSWORD_HELP}
        autoComplete="new-password"
        isRequired
      />
      {create.error ? <ProblemMessage error={create.error} /> : null}
      <FormButtons>
        <Button
          type="submit"
          look="primary"
          isDisabled={create.isPending || !name.trim() || password.length < MIN_PASSWORD}
        >
          Add the person
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}

function ChangeRole({ user, onClose }: { user: User; onClose: () => void }) {
  const [role, setRole] = useState(user.role);
  const change = useChangeUser();
  return (
    <Form
      label="Role"
      onSubmit={() =>
        change.mutate(
          { id: user.id, role },
          {
            onSuccess: () => {
              tell(`${user.name} is ${ROLE_TERMS[role].label.toLowerCase()} now.`);
              onClose();
            },
          },
        )
      }
    >
      <SelectField
        label="Role"
        value={role}
        onChange={setRole}
        options={ROLE_OPTIONS}
        description={ROLE_TERMS[role].meaning}
      />
      {change.error ? <ProblemMessage error={change.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={change.isPending || role === user.role}>
          Change the role
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}

function SetPassword({ user, onClose }: { user: User; onClose: () => void }) {
  const [password, setPassword] = useState("");
  const set = useSetPassword();
  return (
    <Form
      label="New password"
      onSubmit={() =>
        set.mutate(
          { id: user.id, password },
          {
            onSuccess: () => {
              tell(`${user.name} has a new password. Hand it over.`);
              onClose();
            },
          },
        )
      }
    >
      <input type="text" value={user.name} autoComplete="username" readOnly hidden />
      <TextField
        label="New password"
        type="password"
        value={password}
        onChange={setPassword}
        description={PASSWORD_HELP}
        autoComplete="new-password"
        isRequired
        autoFocus
      />
      {set.error ? <ProblemMessage error={set.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={set.isPending || password.length < MIN_PASSWORD}>
          Set the password
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
