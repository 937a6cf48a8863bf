// Every page and its address. Pages are loaded when they are first asked for.
import { lazy, type ComponentType } from "react";
import { Redirect, Route, Switch } from "wouter";
import { NotFoundPage } from "./NotFoundPage";

/** A page that a newer build has replaced is gone from the server: the new build is loaded, once. */
function page(load: () => Promise<{ default: ComponentType }>) {
  return lazy(() =>
    load().catch((error: unknown) => {
      const key = "primer.reloaded";
      if (sessionStorage.getItem(key) === null) {
        sessionStorage.setItem(key, "yes");
        window.location.reload();
      }
      throw error;
    }),
  );
}

const OverviewPage = page(() => import("@/features/overview/OverviewPage"));
const JobsPage = page(() => import("@/features/jobs/JobsPage"));
const NewJobPage = page(() => import("@/features/jobs/NewJobPage"));
const JobPage = page(() => import("@/features/jobs/JobPage"));
const SourcesPage = page(() => import("@/features/sources/SourcesPage"));
const NewSourcePage = page(() => import("@/features/sources/NewSourcePage"));
const SourcePage = page(() => import("@/features/sources/SourcePage"));
const ProfilesPage = page(() => import("@/features/profiles/ProfilesPage"));
const VersionPage = page(() => import("@/features/profiles/VersionPage"));
const ComparePage = page(() => import("@/features/profiles/ComparePage"));
const AdminPage = page(() => import("@/features/admin/AdminPage"));
const AccountPage = page(() => import("@/features/account/AccountPage"));
const LaterPage = page(() => import("@/features/later/LaterPage"));

const LATER = ["/documents", "/thresholds", "/vocabulary", "/concepts", "/exports", "/try"];

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
      <Route path="/admin">
        <Redirect to="/admin/users" replace />
      </Route>
      <Route path="/admin/:tab" component={AdminPage} />
      <Route path="/account" component={AccountPage} />
      {LATER.map((path) => (
        <Route key={path} path={path} component={LaterPage} />
      ))}
      <Route component={NotFoundPage} />
    </Switch>
  );
}
