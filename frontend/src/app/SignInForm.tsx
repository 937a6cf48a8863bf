import { useState } from "react";
import { beginSession } from "@/api/session";
import { Button } from "@/components/Button";
import { Form, FormButtons, TextField } from "@/components/fields";
import { ProblemMessage } from "@/components/ProblemMessage";

interface SignInFormProps {
  /** Whose work is on the screen: nobody else signs in over it. */
  name?: string;
}

export function SignInForm({ name: fixedName }: SignInFormProps) {
  const [name, setName] = useState(fixedName ?? "");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>();
  const [isPending, setIsPending] = useState(false);

  async function submit() {
    setIsPending(true);
    setError(undefined);
    try {
      await beginSession(name.trim(), password);
    } catch (problem) {
      setError(problem);
    } finally {
      setIsPending(false);
    }
  }

  return (
    <Form onSubmit={() => void submit()} label="Sign in">
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        autoComplete="username"
        isReadOnly={fixedName !== undefined}
        autoFocus={fixedName === undefined}
        isRequired
      />
      <TextField
        label="Password"
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete="current-password"
        autoFocus={fixedName !== undefined}
        isRequired
      />
      {error ? <ProblemMessage error={error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={isPending || !name.trim() || !password}>
          {isPending ? "Signing in…" : "Sign in"}
        </Button>
      </FormButtons>
    </Form>
  );
}
