// People, their roles and passwords.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, readAll, unwrap, type Schemas } from "./client";

export type User = Schemas["UserAnswer"];

const MOST_USERS = 5_000;
const KEY = ["users"];

export const usersQuery = queryOptions({
  queryKey: KEY,
  queryFn: async ({ signal }) => {
    const found = await readAll(
      (cursor) => unwrap(api.GET("/api/v1/users", { params: { query: { cursor, limit: 500 } }, signal })),
      MOST_USERS,
    );
    return found.items;
  },
});

export function useCreateUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["UserCreate"]) => unwrap(api.POST("/api/v1/users", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useChangeUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: Schemas["UserChange"] & { id: number }) =>
      unwrap(api.PATCH("/api/v1/users/{user_id}", { params: { path: { user_id: id } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: KEY }),
  });
}

export function useSetPassword() {
  return useMutation({
    mutationFn: ({ id, password }: { id: number; password: string }) =>
      unwrap(api.PUT("/api/v1/users/{user_id}/password", { params: { path: { user_id: id } }, body: { password } })),
  });
}

export function useChangeOwnPassword() {
  return useMutation({
    mutationFn: (body: Schemas["PasswordChange"]) => unwrap(api.PUT("/api/v1/session/password", { body })),
  });
}
