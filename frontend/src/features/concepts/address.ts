// What the page shows, as its address says it: which concepts, in which order, and the one that is read. A link is a place.
import type { Outcome } from "@/words/outcomes";
import { readId } from "@/words/ids";
import { isGrouping, type Column, type Grouping } from "./rows";

export type PlacesShown = Outcome | "all";

export interface View {
  search: string;
  subject: string | null;
  band: string | null;
  /** A standard's code; empty: none. */
  standard: string | null;
  group: Grouping;
  sort: { column: Column; isDescending: boolean };
  /** The concept that is read, by its id. */
  at: string | null;
  /** Of which documents its places are shown. */
  places: PlacesShown;
  /** The version of the catalogue; null: the newest that was measured. */
  version: number | null;
  /** The profile version that decides; null: the job's own. */
  profileId: number | null;
}

export const FIRST_SORT: View["sort"] = { column: "documents", isDescending: true };
const COLUMNS: readonly Column[] = ["name", "documents", "excluded", "kept"];
const PLACES: readonly PlacesShown[] = ["kept", "excluded", "undecided", "all"];

export function writeView(view: View): URLSearchParams {
  const address = new URLSearchParams();
  if (view.search) address.set("search", view.search);
  if (view.subject !== null) address.set("subject", view.subject);
  if (view.band !== null) address.set("grades", view.band);
  if (view.standard !== null) address.set("standard", view.standard);
  if (view.group !== "concept") address.set("by", view.group);
  const { column, isDescending } = view.sort;
  if (column !== FIRST_SORT.column || isDescending !== FIRST_SORT.isDescending) {
    address.set("sort", `${isDescending ? "-" : ""}${column}`);
  }
  if (view.version !== null) address.set("version", String(view.version));
  if (view.profileId !== null) address.set("profile", String(view.profileId));
  if (view.at !== null) address.set("at", view.at);
  if (view.places !== "kept") address.set("places", view.places);
  return address;
}

/** What an address asks; parts of it that mean nothing are passed over. */
export function readView(address: URLSearchParams): View {
  const group = address.get("by") ?? "";
  const places = address.get("places") as PlacesShown | null;
  return {
    search: address.get("search") ?? "",
    subject: address.get("subject"),
    band: address.get("grades"),
    standard: address.get("standard"),
    group: isGrouping(group) ? group : "concept",
    sort: readSort(address.get("sort")),
    at: address.get("at") || null,
    places: places !== null && PLACES.includes(places) ? places : "kept",
    version: readId(address.get("version")),
    profileId: readId(address.get("profile")),
  };
}

function readSort(written: string | null): View["sort"] {
  const column = (written ?? "").replace(/^-/, "") as Column;
  return COLUMNS.includes(column) ? { column, isDescending: written?.startsWith("-") ?? false } : FIRST_SORT;
}
