// Questions that come faster than answers: one is asked at a time, and next the newest; those in between are dropped. While a
// cut is dragged every answer that comes is shown, and the last one is of where it came to rest.

export class LatestOnly<Question, Answer> {
  private isAsking = false;
  private waiting: { question: Question } | undefined;
  private isOver = false;

  constructor(
    private readonly ask: (question: Question) => Promise<Answer>,
    private readonly onAnswer: (question: Question, answer: Answer) => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  put(question: Question): void {
    this.waiting = { question };
    if (!this.isAsking) void this.work();
  }

  /** Nothing is said from here on. */
  end(): void {
    this.isOver = true;
    this.waiting = undefined;
  }

  private async work(): Promise<void> {
    this.isAsking = true;
    while (this.waiting) {
      const { question } = this.waiting;
      this.waiting = undefined;
      try {
        const answer = await this.ask(question);
        if (!this.isOver) this.onAnswer(question, answer);
      } catch (error) {
        if (!this.isOver && !this.waiting) this.onError(error);
      }
    }
    this.isAsking = false;
  }
}
