// How queries behave: answers stay until an event says otherwise, silence is waited out, refusals are not repeated.
import { QueryClient } from "@tanstack/react-query";
import { UnreachableError } from "./problem";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 10 * 60_000,
      // Held back while the service does not answer, and sent when it does.
      retry: (count, error) => error instanceof UnreachableError && count < 5,
      retryDelay: 500,
      refetchOnWindowFocus: false,
    },
    mutations: { retry: false },
  },
});
