import { expect, test } from "vitest";
import { FIRST_SORT, readView, writeView, type View } from "./address";

const PLAIN: View = {
  search: "",
  subject: null,
  band: null,
  standard: null,
  group: "concept",
  sort: FIRST_SORT,
  at: null,
  places: "kept",
  version: null,
  profileId: null,
};

test("what is shown is read back from the address", () => {
  const views: View[] = [
    PLAIN,
    { ...PLAIN, search: "plate & shard", subject: "earth & space science", band: "K8", at: "plate-tectonics" },
    { ...PLAIN, standard: "", group: "standard", sort: { column: "kept", isDescending: true }, places: "all" },
    { ...PLAIN, sort: { column: "name", isDescending: false }, version: 3, profileId: 7, places: "excluded" },
  ];
  for (const view of views) expect(readView(new URLSearchParams(writeView(view).toString()))).toEqual(view);
  expect(writeView(PLAIN).toString()).toBe("");
});

test("an address that means nothing shows everything", () => {
  const wrong = "sort=-shape&by=colour&version=two&profile=-1&places=nowhere&at=";
  expect(readView(new URLSearchParams(wrong))).toEqual(PLAIN);
});
