// A text that is tried: measured and decided at once, and kept nowhere.
import { useMutation } from "@tanstack/react-query";
import { api, unwrap } from "./client";

export const MOST_CHARACTERS = 1_000_000;

export function useTryText() {
  return useMutation({
    mutationFn: ({ text, profileId }: { text: string; profileId: number | null }) =>
      unwrap(api.POST("/api/v1/texts/try", { body: { text, profile_id: profileId } })),
    gcTime: 0,
  });
}
