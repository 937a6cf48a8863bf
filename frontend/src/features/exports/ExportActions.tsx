import { useState } from "react";
import { findActiveJob, hasFiles, useDeleteExport, useVerifyExport, type ExportDetail } from "@/api/exports";
import { isOver } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { Button } from "@/components/Button";
import { ConfirmDialog } from "@/components/Dialog";
import { tell, tellError } from "@/components/toasts";
import { PushDialog } from "./PushDialog";

export function ExportActions({ found }: { found: ExportDetail }) {
  const [asks, setAsks] = useState<"push" | "delete">();
  const verify = useVerifyExport(found.id);
  const remove = useDeleteExport(found.id);
  const mayExport = useIsAllowed("exports");
  if (!mayExport || !hasFiles(found)) return null;
  const isBusy = findActiveJob(found) !== undefined;
  const isChecked = found.checks.some((check) => !isOver(check));

  function check() {
    verify.mutate(undefined, {
      onSuccess: () => tell(`Export ${found.id} is being checked.`),
      onError: tellError,
    });
  }

  function deleteFiles() {
    remove.mutate(undefined, {
      onSuccess: () => {
        setAsks(undefined);
        tell(`The files of export ${found.id} are deleted.`);
      },
    });
  }

  return (
    <>
      <Button onPress={check} isDisabled={verify.isPending || isChecked}>
        {isChecked ? "Being checked…" : "Verify"}
      </Button>
      <Button onPress={() => setAsks("push")}>Publish…</Button>
      <Button look="danger" onPress={() => setAsks("delete")} isDisabled={isBusy}>
        Delete…
      </Button>
      <PushDialog exportId={found.id} isOpen={asks === "push"} onClose={() => setAsks(undefined)} />
      <ConfirmDialog
        title={`Delete the files of export ${found.id}?`}
        isOpen={asks === "delete"}
        onClose={() => setAsks(undefined)}
        onConfirm={deleteFiles}
        confirm="Delete the files"
        isDangerous
        isPending={remove.isPending}
        error={remove.error}
      >
        <p>Nobody can download or load it from here any more. What it was stays readable, and it can be made again.</p>
      </ConfirmDialog>
    </>
  );
}
