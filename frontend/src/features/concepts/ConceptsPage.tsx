import { useQuery } from "@tanstack/react-query";
import { Plus, Search, X } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { conceptsQuery, newestVersionQuery, type CatalogueVersion, type Concept } from "@/api/catalogues";
import {
  conceptReportQuery,
  measuredQuery,
  type ConceptReport,
  type MeasuredCatalogue,
  type PlaceSort,
} from "@/api/concepts";
import { jobQuery, type JobDetail } from "@/api/jobs";
import { useIsAllowed } from "@/api/roles";
import { useStore } from "@/api/store";
import { Button, ButtonLink } from "@/components/Button";
import { SelectField, type Option } from "@/components/fields";
import { JobPicker } from "@/components/JobPicker";
import { OfJob } from "@/components/OfJob";
import { usePageShortcuts } from "@/components/page-shortcuts";
import { EmptyState, Loaded } from "@/components/states";
import { tell } from "@/components/toasts";
import { VersionPicker } from "@/components/VersionPicker";
import { Indexed } from "@/components/Waiting";
import { Workspace } from "@/components/Workspace";
import { CONCEPT_GRADES, describeSubject, NO_STANDARD, SUBJECTS } from "@/words/concepts";
import { plural } from "@/words/numbers";
import { readView, writeView, type View } from "./address";
import { ConceptDialog } from "./ConceptDialog";
import { ConceptPane } from "./ConceptPane";
import styles from "./concepts.module.css";
import { ConceptTable, type TableHandle } from "./ConceptTable";
import { draft, isInEdit, putConcept, removeConcept, setDraft } from "./draft";
import { EditBar } from "./EditBar";
import { NewerVersion, NotMeasured } from "./Measuring";
import { Overview } from "./Overview";
import { CURATORS_ONLY } from "./roles";
import { filterConcepts, listConcepts, listGroups, sortRows, type Grouping } from "./rows";

const PURPOSE = "See what the boundary does to each idea that is taught after grade 5, and what leaks into kept text.";

export default function ConceptsPage() {
  return (
    <OfJob title="Concepts" purpose={PURPOSE} place="/concepts">
      {(jobId) => <JobConcepts jobId={jobId} />}
    </OfJob>
  );
}

function JobConcepts({ jobId }: { jobId: number }) {
  const [address, setAddress] = useSearchParams();
  const [, go] = useLocation();
  const job = useQuery(jobQuery(jobId));
  const measured = useQuery(measuredQuery(jobId));
  const newest = useQuery(newestVersionQuery);
  const view = readView(address);

  function show(change: Partial<View>, isReplacing: boolean) {
    setAddress(() => writeView({ ...view, ...change }), { replace: isReplacing });
  }

  return (
    <Workspace
      title="Concepts"
      purpose={PURPOSE}
      actions={
        <>
          <JobPicker jobId={jobId} onChange={(id) => go(`/concepts/${id}`)} />
          <VersionPicker
            label="Decided by"
            own={
              job.data
                ? `${job.data.profile.name} v${job.data.profile.version}, the job's own`
                : "The job's own profile"
            }
            value={view.profileId}
            onChange={(profileId) => show({ profileId }, false)}
          />
          <ButtonLink href="/concepts/probes">Leak probes</ButtonLink>
          <ButtonLink href={`/concepts/catalogue?job=${jobId}`}>Catalogue</ButtonLink>
        </>
      }
    >
      <Loaded query={job} what="the job">
        {(found) => (
          <Loaded query={measured} what="what was measured">
            {(catalogues) => (
              <Loaded query={newest} what="the catalogue">
                {(version) =>
                  version ? (
                    <Measured job={found} catalogues={catalogues} newest={version} view={view} onShow={show} />
                  ) : (
                    <EmptyState title="There is no catalogue">It comes with the service when it starts.</EmptyState>
                  )
                }
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
    </Workspace>
  );
}

interface MeasuredProps {
  job: JobDetail;
  catalogues: readonly MeasuredCatalogue[];
  newest: CatalogueVersion;
  view: View;
  onShow: (change: Partial<View>, isReplacing: boolean) => void;
}

/** The version that is asked about: the address says which, else the newest that was measured. */
function Measured({ job, catalogues, newest, view, onShow }: MeasuredProps) {
  const whole = catalogues.filter(({ is_whole, version }) => is_whole && version !== null);
  const wanted = whole.find(({ version }) => version === view.version) ?? whole[0];
  const version = wanted?.version ?? null;
  const choice = view.profileId === null ? {} : { profile_id: view.profileId };
  const report = useQuery({
    ...conceptReportQuery({ job: job.id, version: version ?? 0, choice }),
    enabled: version !== null,
    placeholderData: (before) => before,
  });
  const newestConcepts = useQuery(conceptsQuery(newest.version));
  const shownConcepts = useQuery(conceptsQuery(version ?? newest.version));
  const ofNewest = catalogues.find((entry) => entry.version === newest.version);
  const measuring = {
    jobId: job.id,
    baseId: job.kind === "curate" ? job.id : (job.base_job_id ?? job.id),
    version: newest.version,
    found: ofNewest,
  };
  const table = (found: ConceptReport | null) => (
    <Loaded query={newestConcepts} what="the catalogue">
      {(latest) => (
        <Loaded query={shownConcepts} what="the catalogue">
          {(shown) => (
            <Concepts
              job={job}
              report={found}
              newest={newest.version}
              latest={latest}
              shown={shown}
              view={view}
              onShow={onShow}
              banner={
                version !== null && version < newest.version && !ofNewest?.is_whole ? (
                  <NewerVersion {...measuring} shown={version} />
                ) : null
              }
              instead={version === null ? <NotMeasured {...measuring} /> : null}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  );
  if (version === null) return table(null);
  return (
    <Indexed query={report} what="the concepts">
      {table}
    </Indexed>
  );
}

interface ConceptsProps {
  job: JobDetail;
  report: ConceptReport | null;
  newest: number;
  /** The concepts of the newest version, which edits are made from, and of the one whose numbers are shown. */
  latest: ReadonlyMap<string, Concept>;
  shown: ReadonlyMap<string, Concept>;
  view: View;
  onShow: (change: Partial<View>, isReplacing: boolean) => void;
  banner: React.ReactNode;
  /** What stands beside the table while nothing is measured. */
  instead: React.ReactNode;
}

const ANY = "any";
const GROUPINGS: readonly Option<Grouping>[] = [
  { value: "concept", label: "Each concept" },
  { value: "subject", label: "By subject" },
  { value: "band", label: "By grades" },
  { value: "standard", label: "By standard" },
];
const SUBJECT_OPTIONS = [
  { value: ANY, label: "All subjects" },
  ...Object.entries(SUBJECTS).map(([value, label]) => ({ value, label })),
];
const GRADE_OPTIONS = [
  { value: ANY, label: "All grades" },
  ...Object.entries(CONCEPT_GRADES).map(([value, { label }]) => ({ value, label })),
];

function Concepts({ job, report, newest, latest, shown, view, onShow, banner, instead }: ConceptsProps) {
  const edit = useStore(draft);
  const mayEdit = useIsAllowed("rule");
  const [changed, setChanged] = useState<Concept | null>();
  const [placeSort, setPlaceSort] = useState<PlaceSort>("document");
  const [marked, setMarked] = useState<string | null>(null);
  const table = useRef<TableHandle>(null);
  const reader = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isGrouped = view.group !== "concept" && report !== null;

  const all = useMemo(() => listConcepts(report, new Map([...latest, ...shown])), [report, latest, shown]);
  const rows = useMemo(
    () =>
      sortRows(
        isGrouped ? listGroups(report, view.group as "subject", view.search) : filterConcepts(all, view),
        view.sort,
      ),
    [all, isGrouped, report, view],
  );
  const row = isGrouped ? undefined : all.find(({ id }) => id === view.at);
  const concept = view.at === null || isGrouped ? undefined : (shown.get(view.at) ?? latest.get(view.at));
  const nameOf = (id: string) => shown.get(id)?.name ?? latest.get(id)?.name ?? id;

  function select(id: string) {
    if (isGrouped) setMarked(id);
    else if (id !== view.at) onShow({ at: id }, true);
  }

  function openGroup(id: string) {
    const narrowed = { subject: null, band: null, standard: null, [view.group]: id };
    onShow({ ...narrowed, group: "concept", search: "", at: null }, false);
  }

  function open() {
    if (isGrouped) {
      if (marked !== null) openGroup(marked);
    } else {
      reader.current?.querySelector<HTMLElement>("section")?.focus();
    }
  }

  /** What an edit begins with: the concept as the edit has it, else as the newest version does. */
  const editable = (id: string) => edit?.put.find((other) => other.id === id) ?? latest.get(id);

  function mayChange(id?: string): boolean {
    if (!mayEdit) tell(CURATORS_ONLY);
    else if (edit !== null && edit.csv !== null) tell("Your edit is a whole file: save it or throw it away first.");
    else if (id !== undefined && !editable(id)) tell(`Version ${newest} of the catalogue does not have it any more.`);
    else return true;
    return false;
  }

  function change(id: string) {
    if (mayChange(id)) setChanged(editable(id) ?? null);
  }

  function remove(id: string) {
    if (!mayChange(id)) return;
    setDraft(removeConcept(edit, newest, id, latest.has(id)));
    tell(`${nameOf(id)} is removed in your edit.`);
  }

  usePageShortcuts([
    { keys: ["j", "ArrowDown"], label: "Next concept", run: () => table.current?.move(1) },
    { keys: ["k", "ArrowUp"], label: "Concept before", run: () => table.current?.move(-1) },
    { keys: ["o", "Enter"], label: "Open the concept", run: open },
    { keys: ["Escape"], label: "Back to the table", run: () => table.current?.focus() },
    { keys: ["/"], label: "Search", run: () => field.current?.focus() },
    { keys: ["e"], label: "Change the concept", run: () => view.at !== null && change(view.at) },
    { keys: ["n"], label: "Add a concept", run: () => mayChange() && setChanged(null) },
  ]);

  const isEdited = (id: string) => isInEdit(edit, id);
  return (
    <>
      {banner}
      {edit && <EditBar edit={edit} href={`/concepts/edit?job=${job.id}`} />}
      <div className={styles.bar} role="search" aria-label="Which concepts">
        <div className={styles.search}>
          <Search size={16} aria-hidden className={styles.searchIcon} />
          <input
            ref={field}
            type="search"
            className={styles.searchInput}
            aria-label="Search"
            placeholder="A word, a name or a standard"
            value={view.search}
            onChange={(event) => onShow({ search: event.target.value }, true)}
            onKeyDown={(event) => {
              if (event.key === "Escape" || event.key === "Enter") table.current?.focus();
            }}
          />
        </div>
        <SelectField
          label="Subject"
          isLabelHidden
          value={view.subject ?? ANY}
          onChange={(subject) => onShow({ subject: subject === ANY ? null : subject, group: "concept" }, false)}
          options={SUBJECT_OPTIONS}
        />
        <SelectField
          label="Grades"
          isLabelHidden
          value={view.band ?? ANY}
          onChange={(band) => onShow({ band: band === ANY ? null : band, group: "concept" }, false)}
          options={GRADE_OPTIONS}
        />
        {report && (
          <SelectField
            label="Group"
            isLabelHidden
            value={view.group}
            onChange={(group) => onShow({ group, at: null }, false)}
            options={GROUPINGS}
          />
        )}
        {view.standard !== null && (
          <Button isSmall aria-label="Without the standard" onPress={() => onShow({ standard: null }, false)}>
            {view.standard || NO_STANDARD} <X size={14} aria-hidden />
          </Button>
        )}
        <span className={styles.total} role="status">
          {isGrouped ? plural(rows.length, "group") : plural(rows.length, "concept")}
        </span>
        {mayEdit && (
          <Button isSmall onPress={() => mayChange() && setChanged(null)}>
            <Plus size={15} aria-hidden /> Add a concept
          </Button>
        )}
      </div>
      <div className={styles.work}>
        {rows.length > 0 ? (
          <ConceptTable
            key={view.group}
            label={isGrouped ? "Groups of concepts" : "Concepts"}
            rows={rows}
            sort={view.sort}
            onSort={(sort) => onShow({ sort }, true)}
            selected={isGrouped ? marked : view.at}
            onSelect={select}
            onOpen={open}
            isEdited={isEdited}
            isGrouped={isGrouped}
            handle={table}
          />
        ) : (
          <EmptyState title="No such concept">Take away a condition, or search for another word.</EmptyState>
        )}
        <div ref={reader} className={styles.reader}>
          {concept && row ? (
            <ConceptPane
              key={concept.id}
              asked={
                report && {
                  job: job.id,
                  version: report.version,
                  choice: view.profileId === null ? {} : { profile_id: view.profileId },
                }
              }
              concept={concept}
              counts={row.counts}
              kept={report?.kept ?? 0}
              places={view.places}
              onPlaces={(places) => onShow({ places }, true)}
              sort={placeSort}
              onSort={setPlaceSort}
              onStandard={(standard) => onShow({ standard, group: "concept" }, false)}
              onClose={() => onShow({ at: null }, true)}
              onChange={mayEdit ? () => change(concept.id) : undefined}
              onRemove={mayEdit ? () => remove(concept.id) : undefined}
              note={describeNote({ mayEdit, isEdited: isEdited(concept.id), isLatest: latest.has(concept.id), newest })}
            />
          ) : isGrouped && marked !== null ? (
            <EmptyState
              title={rows.find(({ id }) => id === marked)?.name ?? describeSubject(marked)}
              action={
                <Button look="primary" onPress={() => openGroup(marked)}>
                  Show its concepts
                </Button>
              }
            >
              <p>
                A document counts once in a group, however many of its concepts it mentions. <kbd>o</kbd> opens it.
              </p>
            </EmptyState>
          ) : (
            (instead ??
            (report && (
              <Overview
                jobId={job.id}
                profileId={view.profileId}
                report={report}
                nameOf={nameOf}
                onConcept={(at) => onShow({ at, group: "concept" }, true)}
              />
            )))
          )}
        </div>
      </div>
      <ConceptDialog
        isOpen={changed !== undefined}
        onClose={() => setChanged(undefined)}
        concept={changed ?? null}
        isTaken={(id) => latest.has(id) || (edit?.put.some((other) => other.id === id) ?? false)}
        onPut={(put) => {
          setDraft(putConcept(edit, newest, latest.get(put.id), put));
          setChanged(undefined);
          tell(`${put.name} is part of your edit.`);
        }}
      />
    </>
  );
}

interface NoteFacts {
  mayEdit: boolean;
  isEdited: boolean;
  isLatest: boolean;
  newest: number;
}

function describeNote({ mayEdit, isEdited, isLatest, newest }: NoteFacts): string | undefined {
  if (!mayEdit) return CURATORS_ONLY;
  if (isEdited) return "It is part of your edit: here it is as it was measured.";
  return isLatest ? undefined : `Version ${newest} of the catalogue does not have it any more.`;
}
