import { useState } from "react";
import { signIn } from "@/api/session";
import { useStore } from "@/api/store";
import { useChangeOwnPassword } from "@/api/users";
import { Button } from "@/components/Button";
import { Facts } from "@/components/Figures";
import { Form, FormButtons, TextField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { ROLE_TERMS } from "@/words/terms";
import { OwnTokens } from "./OwnTokens";

const MIN_PASSWORD = 12;

export default function AccountPage() {
  const now = useStore(signIn);
  if (!("session" in now)) return null;
  const { name, role } = now.session;
  return (
    <Page
      title="Your account"
      purpose="Who you are here, your password, and tokens for programs that work in your name."
    >
      <Section title="You">
        <Facts
          facts={[
            { label: "Name", value: name },
            { label: "Role", value: `${ROLE_TERMS[role].label}: ${ROLE_TERMS[role].meaning}` },
          ]}
        />
      </Section>
      <OwnTokens role={role} />
      <PasswordSection name={name} />
    </Page>
  );
}

function PasswordSection({ name }: { name: string }) {
  const [old, setOld] = useState("");
  const [fresh, setFresh] = useState("");
  const [again, setAgain] = useState("");
  const change = useChangeOwnPassword();
  const isSame = fresh === again;
  return (
    <Section title="Password" about="All your sessions and tokens end with the old one; you then sign in again.">
      <Form
        label="Password"
        onSubmit={() =>
          change.mutate({ old_password: old, new_password: fresh }, { onSuccess: () => window.location.assign("/") })
        }
      >
        <input type="text" value={name} autoComplete="username" readOnly hidden />
        <TextField label="Old password" type="password" value={old} onChange={setOld} autoComplete="current-password" />
        <TextField
          label="New password"
          type="password"
          value={fresh}
          onChange={setFresh}
          autoComplete="new-password"
          description={`At least ${MIN_PASSWORD} characters; several words are easy to keep in mind.`}
        />
        <TextField
          label="New password once more"
          type="password"
          value={again}
          onChange={setAgain}
          autoComplete="new-password"
          error={again && !isSame ? "It is not the same." : undefined}
        />
        {change.error ? <ProblemMessage error={change.error} /> : null}
        <FormButtons>
          <Button type="submit" isDisabled={change.isPending || !old || fresh.length < MIN_PASSWORD || !isSame}>
            Change the password
          </Button>
        </FormButtons>
      </Form>
    </Section>
  );
}
