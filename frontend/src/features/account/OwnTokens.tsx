import { useState } from "react";
import { ROLES, type Role } from "@/api/roles";
import { useCreateToken } from "@/api/tokens";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Form, FormButtons, SelectField, TextField } from "@/components/fields";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { TokenTable } from "@/components/TokenTable";
import { ROLE_TERMS } from "@/words/terms";
import styles from "./account.module.css";

export function OwnTokens({ role }: { role: Role }) {
  const [isMaking, setIsMaking] = useState(false);
  return (
    <Section
      title="Tokens for programs"
      about="A program that shows a token works in your name, with at most your role."
      actions={
        <Button isSmall onPress={() => setIsMaking(true)}>
          Make a token
        </Button>
      }
    >
      <TokenTable />
      <Dialog title="Make a token" isOpen={isMaking} onClose={() => setIsMaking(false)}>
        <MakeToken role={role} onClose={() => setIsMaking(false)} />
      </Dialog>
    </Section>
  );
}

function MakeToken({ role, onClose }: { role: Role; onClose: () => void }) {
  const [name, setName] = useState("");
  const [chosenRole, setChosenRole] = useState<Role>("viewer");
  const [days, setDays] = useState("90");
  const create = useCreateToken();
  const options = ROLES.slice(0, ROLES.indexOf(role) + 1).map((value) => ({
    value,
    label: ROLE_TERMS[value].label,
    description: ROLE_TERMS[value].meaning,
  }));
  const dayCount = Number(days);
  const areDaysRight = Number.isInteger(dayCount) && dayCount >= 1 && dayCount <= 3_650;

  if (create.data) {
    return (
      <>
        <p>Keep it where the program finds it. It is shown this once and never again.</p>
        <code className={styles.secret}>{create.data.secret}</code>
        <FormButtons>
          <Button look="primary" onPress={onClose} autoFocus>
            I have kept it
          </Button>
        </FormButtons>
      </>
    );
  }
  return (
    <Form
      label="Make a token"
      onSubmit={() => create.mutate({ name: name.trim(), role: chosenRole, expires_in_days: dayCount })}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        description="Which program it is for."
        isRequired
        autoFocus
      />
      <SelectField label="Role" value={chosenRole} onChange={setChosenRole} options={options} />
      <TextField
        label="Days that it holds"
        type="number"
        value={days}
        onChange={setDays}
        error={areDaysRight ? undefined : "From 1 to 3,650 days."}
        min={1}
        max={3_650}
      />
      {create.error ? <ProblemMessage error={create.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={create.isPending || !name.trim() || !areDaysRight}>
          Make the token
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
