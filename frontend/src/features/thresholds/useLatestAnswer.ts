import { useEffect, useRef, useState } from "react";
import { LatestOnly } from "./latest-only";

interface Latest<Question, Answer> {
  /** The newest answer that came. */
  answer: Answer | undefined;
  /** What it answers. */
  question: Question | undefined;
  error: unknown;
}

/** The answer to a question that changes quickly. `ask` is the same from render to render. */
export function useLatestAnswer<Question, Answer>(
  question: Question,
  ask: (question: Question) => Promise<Answer>,
): Latest<Question, Answer> {
  const [latest, setLatest] = useState<Latest<Question, Answer>>({
    answer: undefined,
    question: undefined,
    error: undefined,
  });
  const asker = useRef<LatestOnly<Question, Answer>>(undefined);
  useEffect(() => {
    const made = new LatestOnly(
      ask,
      (answered, answer) => setLatest({ question: answered, answer, error: undefined }),
      (error) => setLatest((before) => ({ ...before, error })),
    );
    asker.current = made;
    return () => made.end();
  }, [ask]);
  useEffect(() => asker.current?.put(question), [question, ask]);
  return latest;
}
