import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { placesQuery, useAllowPlace, useRemovePlace, type Place } from "@/api/places";
import { Button } from "@/components/Button";
import { DataTable, type Column } from "@/components/DataTable";
import { ConfirmDialog, Dialog } from "@/components/Dialog";
import { CheckField, Form, FormButtons, TextField } from "@/components/fields";
import { Moment } from "@/components/Moment";
import { Section } from "@/components/Page";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import styles from "./admin.module.css";

export function PlacesTab() {
  const places = useQuery(placesQuery);
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<Place>();
  const remove = useRemovePlace();
  const columns: Column<Place>[] = [
    {
      id: "place",
      header: "Place, and everything below it",
      cell: ({ prefix }) => <code>{prefix}</code>,
      sortBy: ({ prefix }) => prefix,
    },
    { id: "note", header: "Note", cell: ({ note }) => note || "–" },
    {
      id: "private",
      header: "Private addresses",
      look: "fit",
      cell: ({ allows_private }) => (allows_private ? "allowed" : "refused"),
      isSecondary: true,
    },
    { id: "by", header: "Allowed by", look: "fit", cell: ({ created_by }) => created_by, isSecondary: true },
    { id: "when", header: "Allowed", look: "fit", cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      id: "action",
      header: "Actions",
      isHeaderHidden: true,
      look: "fit",
      cell: (place) => (
        <Button isSmall look="quiet" onPress={() => setRemoving(place)} aria-label={`Remove ${place.prefix}`}>
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Section
      title="Allowed places"
      about="Sources may name these places and what lies below them, and nothing else: so nobody reads what is not meant for them."
      actions={
        <Button look="primary" isSmall onPress={() => setIsAdding(true)}>
          Allow a place
        </Button>
      }
    >
      <Loaded query={places} what="the allowed places">
        {(found) =>
          found.length > 0 ? (
            <DataTable label="Allowed places" columns={columns} rows={found} keyOf={({ id }) => id} />
          ) : (
            <p className={styles.muted}>No place is allowed yet: no source can be registered.</p>
          )
        }
      </Loaded>
      <Dialog title="Allow a place" isOpen={isAdding} onClose={() => setIsAdding(false)}>
        <AllowPlace onClose={() => setIsAdding(false)} />
      </Dialog>
      <ConfirmDialog
        title="Allow this place no longer?"
        isOpen={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        confirm="Remove it"
        isDangerous
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => {
          if (!removing) return;
          remove.mutate(removing.id, {
            onSuccess: () => {
              tell(`${removing.prefix} is allowed no longer.`);
              setRemoving(undefined);
            },
          });
        }}
      >
        <p>
          Sources that name <code>{removing?.prefix}</code> stay in the list, and can be neither looked at nor read.
        </p>
      </ConfirmDialog>
    </Section>
  );
}

function AllowPlace({ onClose }: { onClose: () => void }) {
  const [prefix, setPrefix] = useState("");
  const [note, setNote] = useState("");
  const [allowsPrivate, setAllowsPrivate] = useState(false);
  const allow = useAllowPlace();
  return (
    <Form
      label="Allow a place"
      onSubmit={() =>
        allow.mutate(
          { prefix: prefix.trim(), note: note.trim(), allows_private: allowsPrivate },
          {
            onSuccess: (place) => {
              tell(`${place.prefix} is allowed.`);
              onClose();
            },
          },
        )
      }
    >
      <TextField
        label="Place"
        value={prefix}
        onChange={setPrefix}
        description="A folder of the service's machine, the beginning of an address, or hf://datasets/OWNER/NAME."
        placeholder="/srv/corpora"
        isRequired
        autoFocus
      />
      <TextField label="Note" value={note} onChange={setNote} description="Whose it is, or why it may be read." />
      <CheckField
        label="Also addresses inside this network"
        description="only for servers of your own; a source could reach other machines by it"
        isSelected={allowsPrivate}
        onChange={setAllowsPrivate}
      />
      {allow.error ? <ProblemMessage error={allow.error} /> : null}
      <FormButtons>
        <Button type="submit" look="primary" isDisabled={allow.isPending || !prefix.trim()}>
          Allow it
        </Button>
        <Button look="quiet" onPress={onClose}>
          Leave it
        </Button>
      </FormButtons>
    </Form>
  );
}
