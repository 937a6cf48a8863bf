import { useState } from "react";
import { useLocation } from "wouter";
import { useIsAllowed } from "@/api/roles";
import { useRegisterSource } from "@/api/sources";
import { Button, ButtonLink } from "@/components/Button";
import { FieldRow, Form, FormButtons, TextField } from "@/components/fields";
import { Page, Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { tell } from "@/components/toasts";

export default function NewSourcePage() {
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [locations, setLocations] = useState("");
  const [config, setConfig] = useState("");
  const [split, setSplit] = useState("");
  const [textField, setTextField] = useState("text");
  const register = useRegisterSource();
  const mayAllow = useIsAllowed("allow");
  const places = readLines(locations);
  const isOfHub = places.some((place) => place.startsWith("hf://"));

  function submit() {
    const body = {
      name: name.trim(),
      locations: places,
      config: isOfHub && config.trim() ? config.trim() : null,
      split: isOfHub && split.trim() ? split.trim() : null,
      text_field: textField.trim(),
    };
    register.mutate(body, {
      onSuccess: (source) => {
        tell(`${source.name} is registered and will be looked at.`);
        go(`/sources/${source.id}`);
      },
    });
  }

  return (
    <Page
      title="Register a source"
      purpose="Say where documents are; a worker then lists the files and counts what is in them."
      back={{ href: "/sources", label: "Sources" }}
    >
      <Section title="What and where">
        <Form onSubmit={submit} label="Register a source">
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            description="What you call it, such as fineweb-edu-sample."
            isRequired
            autoFocus
            maxLength={200}
          />
          <TextField
            label="Places"
            value={locations}
            onChange={setLocations}
            lines="code"
            rows={4}
            isRequired
            placeholder={"/srv/corpora/readers\n/srv/corpora/more/*.jsonl.gz\nhf://datasets/HuggingFaceFW/fineweb-edu"}
            description="One a line: a folder, a file, a pattern with *, the address of files, or a data set of the Hub. Parquet and lines of JSON are read, compressed or not."
          />
          {isOfHub && (
            <FieldRow>
              <TextField
                label="Configuration"
                value={config}
                onChange={setConfig}
                description="Of the data set, such as sample-10BT."
              />
              <TextField label="Split" value={split} onChange={setSplit} description="Such as train. Empty: all." />
            </FieldRow>
          )}
          <TextField
            label="Column with the text"
            value={textField}
            onChange={setTextField}
            description="All other columns go into the export unchanged."
            isRequired
          />
          {register.error ? <ProblemMessage error={register.error} /> : null}
          <FormButtons>
            <Button
              type="submit"
              look="primary"
              isDisabled={register.isPending || !name.trim() || places.length === 0 || !textField.trim()}
            >
              {register.isPending ? "Registering…" : "Register the source"}
            </Button>
            {mayAllow && (
              <ButtonLink href="/admin/places" look="quiet">
                Which places are allowed?
              </ButtonLink>
            )}
          </FormButtons>
        </Form>
      </Section>
    </Page>
  );
}

function readLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}
