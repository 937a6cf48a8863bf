import { ButtonLink } from "@/components/Button";
import { Page } from "@/components/Page";

export function NotFoundPage() {
  return (
    <Page title="There is no such page" purpose="The address may be mistyped, or what it named is gone.">
      <div>
        <ButtonLink href="/" look="primary">
          To the overview
        </ButtonLink>
      </div>
    </Page>
  );
}
