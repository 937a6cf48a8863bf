// Every page and its address. Pages are loaded when they are first asked for.
import { parse } from "regexparam";
import { matchRoute, Redirect, Route, Switch } from "wouter";
import { lazyPart, type LazyPart } from "@/components/lazy-part";
import { NotFoundPage } from "./NotFoundPage";

const OverviewPage = lazyPart(() => import("@/features/overview/OverviewPage"));
const JobsPage = lazyPart(() => import("@/features/jobs/JobsPage"));
const NewJobPage = lazyPart(() => import("@/features/jobs/NewJobPage"));
const JobPage = lazyPart(() => import("@/features/jobs/JobPage"));
const SourcesPage = lazyPart(() => import("@/features/sources/SourcesPage"));
const NewSourcePage = lazyPart(() => import("@/features/sources/NewSourcePage"));
const SourcePage = lazyPart(() => import("@/features/sources/SourcePage"));
const ProfilesPage = lazyPart(() => import("@/features/profiles/ProfilesPage"));
const VersionPage = lazyPart(() => import("@/features/profiles/VersionPage"));
const ComparePage = lazyPart(() => import("@/features/profiles/ComparePage"));
const DocumentsPage = lazyPart(() => import("@/features/documents/DocumentsPage"));
const ThresholdsPage = lazyPart(() => import("@/features/thresholds/ThresholdsPage"));
const TryPage = lazyPart(() => import("@/features/try/TryPage"));
const ExportsPage = lazyPart(() => import("@/features/exports/ExportsPage"));
const NewExportPage = lazyPart(() => import("@/features/exports/NewExportPage"));
const CompareExportsPage = lazyPart(() => import("@/features/exports/ComparePage"));
const ExportPage = lazyPart(() => import("@/features/exports/ExportPage"));
const AdminPage = lazyPart(() => import("@/features/admin/AdminPage"));
const AccountPage = lazyPart(() => import("@/features/account/AccountPage"));
const VocabularyPage = lazyPart(() => import("@/features/vocabulary/VocabularyPage"));
const VocabularyVersionsPage = lazyPart(() => import("@/features/vocabulary/VersionsPage"));
const SamplingPage = lazyPart(() => import("@/features/vocabulary/SamplingPage"));
const ConceptsPage = lazyPart(() => import("@/features/concepts/ConceptsPage"));
const CataloguePage = lazyPart(() => import("@/features/concepts/CataloguePage"));
const EditPage = lazyPart(() => import("@/features/concepts/EditPage"));
const ProbesPage = lazyPart(() => import("@/features/concepts/ProbesPage"));
const ProbePage = lazyPart(() => import("@/features/concepts/ProbePage"));

const PAGES: readonly [pattern: string, page: LazyPart][] = [
  ["/", OverviewPage],
  ["/jobs", JobsPage],
  ["/jobs/new", NewJobPage],
  ["/jobs/:id", JobPage],
  ["/sources", SourcesPage],
  ["/sources/new", NewSourcePage],
  ["/sources/:id", SourcePage],
  ["/profiles", ProfilesPage],
  ["/profiles/compare", ComparePage],
  ["/profiles/:name/:version", VersionPage],
  ["/documents/:job?", DocumentsPage],
  ["/exports", ExportsPage],
  ["/exports/new", NewExportPage],
  ["/exports/compare", CompareExportsPage],
  ["/exports/:id", ExportPage],
  ["/thresholds/:job?", ThresholdsPage],
  ["/vocabulary/versions", VocabularyVersionsPage],
  ["/vocabulary/sampling/:job?", SamplingPage],
  ["/vocabulary/:job?", VocabularyPage],
  ["/concepts/catalogue", CataloguePage],
  ["/concepts/edit", EditPage],
  ["/concepts/probes", ProbesPage],
  ["/concepts/probes/:id", ProbePage],
  ["/concepts/:job?", ConceptsPage],
  ["/try", TryPage],
  ["/admin/:tab", AdminPage],
  ["/account", AccountPage],
];

export function Routes() {
  return (
    <Switch>
      {PAGES.map(([pattern, page]) => (
        <Route key={pattern} path={pattern} component={page} />
      ))}
      <Route path="/admin">
        <Redirect to="/admin/users" replace />
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  );
}

/** Asks for the page of an address while it is still being found out who is signed in. */
export function fetchPage(path: string): void {
  PAGES.find(([pattern]) => matchRoute(parse, pattern, path)[0])?.[1].fetch();
}
