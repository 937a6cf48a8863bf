// Every page and its address. Pages are loaded when they are first asked for.
import { Redirect, Route, Switch } from "wouter";
import { lazyPart } from "@/components/lazy-part";
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
const ConceptsPage = lazyPart(() => import("@/features/concepts/ConceptsPage"));
const CataloguePage = lazyPart(() => import("@/features/concepts/CataloguePage"));
const EditPage = lazyPart(() => import("@/features/concepts/EditPage"));
const ProbesPage = lazyPart(() => import("@/features/concepts/ProbesPage"));
const ProbePage = lazyPart(() => import("@/features/concepts/ProbePage"));

export function Routes() {
  return (
    <Switch>
      <Route path="/" component={OverviewPage} />
      <Route path="/jobs" component={JobsPage} />
      <Route path="/jobs/new" component={NewJobPage} />
      <Route path="/jobs/:id" component={JobPage} />
      <Route path="/sources" component={SourcesPage} />
      <Route path="/sources/new" component={NewSourcePage} />
      <Route path="/sources/:id" component={SourcePage} />
      <Route path="/profiles" component={ProfilesPage} />
      <Route path="/profiles/compare" component={ComparePage} />
      <Route path="/profiles/:name/:version" component={VersionPage} />
      <Route path="/documents/:job?" component={DocumentsPage} />
      <Route path="/exports" component={ExportsPage} />
      <Route path="/exports/new" component={NewExportPage} />
      <Route path="/exports/compare" component={CompareExportsPage} />
      <Route path="/exports/:id" component={ExportPage} />
      <Route path="/thresholds/:job?" component={ThresholdsPage} />
      <Route path="/vocabulary/versions" component={VocabularyVersionsPage} />
      <Route path="/vocabulary/:job?" component={VocabularyPage} />
      <Route path="/concepts/catalogue" component={CataloguePage} />
      <Route path="/concepts/edit" component={EditPage} />
      <Route path="/concepts/probes" component={ProbesPage} />
      <Route path="/concepts/probes/:id" component={ProbePage} />
      <Route path="/concepts/:job?" component={ConceptsPage} />
      <Route path="/try" component={TryPage} />
      <Route path="/admin">
        <Redirect to="/admin/users" replace />
      </Route>
      <Route path="/admin/:tab" component={AdminPage} />
      <Route path="/account" component={AccountPage} />
      <Route component={NotFoundPage} />
    </Switch>
  );
}
