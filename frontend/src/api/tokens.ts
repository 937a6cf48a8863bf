// Tokens for programs: one's own, and, for admins, those of others.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";

export type Token = Schemas["TokenAnswer"];

const MOST_TOKENS = 2_000;
const KEY = ["tokens"];

/** `userId` undefined: one's own. */
export const tokensQuery = (userId?: number) =>
  queryOptions({
    queryKey: [...KEY, userId ?? "own"],
    queryFn: async ({ signal }) => {
      const found = await readAll((cursor) => {
        const query = { cursor, limit: 500 };
        return userId === undefined
          ? unwrap(api.GET("/api/v1/tokens", { params: { query }, signal }))
          : unwrap(api.GET("/api/v1/users/{user_id}/tokens", { params: { path: { user_id: userId }, query }, signal }));
      }, MOST_TOKENS);
      return found.items;
    },
  });

export function useCreateToken() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["TokenCreate"]) => unwrap(api.POST("/api/v1/tokens", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useRevokeToken(userId?: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: number) =>
      userId === undefined
        ? unwrap(api.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: id } } }))
        : unwrap(
            api.DELETE("/api/v1/users/{user_id}/tokens/{token_id}", {
              params: { path: { user_id: userId, token_id: id } },
            }),
          ),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}
