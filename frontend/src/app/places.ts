// Where the navigation leads, in its order, with the letter that follows `g`.
import {
  Blocks,
  BookOpen,
  BookType,
  ChartNoAxesColumn,
  Database,
  FileOutput,
  FileText,
  FlaskConical,
  LayoutDashboard,
  ListChecks,
  Settings,
  SlidersHorizontal,
  type LucideIcon,
} from "lucide-react";

export interface Place {
  href: string;
  label: string;
  letter: string;
  icon: LucideIcon;
}

export interface PlaceGroup {
  label: string;
  places: readonly Place[];
}

export const PLACE_GROUPS: readonly PlaceGroup[] = [
  {
    label: "Work",
    places: [
      { href: "/", label: "Overview", letter: "o", icon: LayoutDashboard },
      { href: "/jobs", label: "Jobs", letter: "j", icon: ListChecks },
      { href: "/documents", label: "Documents", letter: "d", icon: FileText },
      { href: "/exports", label: "Exports", letter: "e", icon: FileOutput },
    ],
  },
  {
    label: "The boundary",
    places: [
      { href: "/thresholds", label: "Thresholds", letter: "t", icon: ChartNoAxesColumn },
      { href: "/profiles", label: "Profiles", letter: "p", icon: SlidersHorizontal },
      { href: "/vocabulary", label: "Vocabulary", letter: "v", icon: BookType },
      { href: "/concepts", label: "Concepts", letter: "c", icon: Blocks },
      { href: "/try", label: "Try a text", letter: "x", icon: FlaskConical },
    ],
  },
  {
    label: "Set up",
    places: [
      { href: "/sources", label: "Sources", letter: "s", icon: Database },
      { href: "/admin", label: "Admin", letter: "a", icon: Settings },
    ],
  },
];

export const PLACES: readonly Place[] = PLACE_GROUPS.flatMap(({ places }) => places);

export const HELP_ICON = BookOpen;

/** Whether a page belongs to a place of the navigation. */
export function isWithin(path: string, href: string): boolean {
  return href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);
}
