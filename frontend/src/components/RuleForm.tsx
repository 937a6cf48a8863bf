import { useState } from "react";
import { useAddRule, type RuleKind } from "@/api/rules";
import type { Source } from "@/api/sources";
import { RULE_KINDS } from "@/words/terms";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { CheckField, Form, FormButtons, SelectField, TextField } from "./fields";
import { ProblemMessage } from "./ProblemMessage";
import { tell } from "./toasts";

const KINDS = (Object.keys(RULE_KINDS) as RuleKind[]).map((value) => ({
  value,
  label: RULE_KINDS[value].label,
  description: RULE_KINDS[value].meaning,
}));
const EXAMPLES: Record<RuleKind, string> = {
  domain: "example.org",
  url_prefix: "https://example.org/private/",
  licence: "cc-by-nc-4.0",
};

interface RuleFormProps {
  isOpen: boolean;
  onClose: () => void;
  /** The source whose page this is; without it a rule binds all sources. */
  source?: Source;
}

export function RuleForm({ isOpen, onClose, source }: RuleFormProps) {
  return (
    <Dialog title="Never keep documents of…" isOpen={isOpen} onClose={onClose}>
      <RuleFields onClose={onClose} source={source} />
    </Dialog>
  );
}

function RuleFields({ onClose, source }: Omit<RuleFormProps, "isOpen">) {
  const [kind, setKind] = useState<RuleKind>("domain");
  const [value, setValue] = useState("");
  const [reason, setReason] = useState("");
  const [isForSource, setIsForSource] = useState(false);
  const add = useAddRule();

  function submit() {
    const sourceId = source && isForSource ? source.id : null;
    add.mutate(
      { kind, value: value.trim(), reason: reason.trim(), source_id: sourceId },
      {
        onSuccess: () => {
          tell("The rule binds every job that starts from now on.");
          onClose();
        },
      },
    );
  }

  return (
    <Form onSubmit={submit} label="Source rule">
      <SelectField label="What" value={kind} onChange={setKind} options={KINDS} />
      <TextField label="Which" value={value} onChange={setValue} placeholder={EXAMPLES[kind]} isRequired autoFocus />
      <TextField
        label="Why"
        value={reason}
        onChange={setReason}
        description="Others will read this: a request to take it down, a licence that forbids it."
        isRequired
      />
      {source && <CheckField label={`Only for ${source.name}`} isSelected={isForSource} onChange={setIsForSource} />}
      {add.error ? <ProblemMessage error={add.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={add.isPending || !value.trim() || !reason.trim()}>
          Add the rule
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
