// The allow-list: places that sources may name.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";

export type Place = Schemas["PrefixAnswer"];

const MOST_PLACES = 2_000;
const KEY = ["places"];

export const placesQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) => unwrap(api.GET("/api/v1/allowed-prefixes", { params: { query: { cursor, limit: 500 } }, signal })),
      MOST_PLACES,
    );
    return found.items;
  },
});

export function useAllowPlace() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["PrefixCreate"]) => unwrap(api.POST("/api/v1/allowed-prefixes", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useRemovePlace() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      unwrap(api.DELETE("/api/v1/allowed-prefixes/{prefix_id}", { params: { path: { prefix_id: id } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
