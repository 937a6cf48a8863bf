import { useLocation } from "wouter";
import { Page } from "@/components/Page";
import { EmptyState } from "@/components/states";

interface Later {
  title: string;
  purpose: string;
  meanwhile: string;
}

const LATER: Record<string, Later> = {
  "/vocabulary": {
    title: "Vocabulary",
    purpose: "Allow and block words, and see what each of them decides.",
    meanwhile: "Until then, `primer decide RUN --vocabulary FILE` tries other words on the command line.",
  },
  "/concepts": {
    title: "Concepts",
    purpose: "Ideas, the words for them, and the grade that first teaches them.",
    meanwhile: "Nothing does this yet.",
  },
};

/** What is planned and not there: said plainly, with what serves meanwhile. */
export default function LaterPage() {
  const [path] = useLocation();
  const later = LATER[path];
  if (!later) return null;
  return (
    <Page title={later.title} purpose={later.purpose}>
      <EmptyState title="Not built yet">
        {later.meanwhile.split("`").map((part, place) => (place % 2 === 1 ? <code key={place}>{part}</code> : part))}
      </EmptyState>
    </Page>
  );
}
