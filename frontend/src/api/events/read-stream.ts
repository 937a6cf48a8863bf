// Reads the service's event stream until it ends. Resumed by the number of the last event that was seen.
import { createParser } from "eventsource-parser";
import { guardedFetch } from "../guarded-fetch";
import { parseEvent, type ServiceEvent } from "./event";

const SILENCE_MS = 45_000; // the service says something every 15 s: after three times it has gone without a word

export interface StreamOptions {
  after: number | undefined;
  signal: AbortSignal;
  onOpen: () => void;
  onEvent: (event: ServiceEvent) => void;
}

/** Resolves when the stream ends; throws when there is none. */
export async function readStream({ after, signal, onOpen, onEvent }: StreamOptions): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const request = new Request("/api/v1/events/stream", {
    headers: { Accept: "text/event-stream", ...(after === undefined ? {} : { "Last-Event-ID": String(after) }) },
    signal: AbortSignal.any([signal, silence.signal]),
    cache: "no-store",
  });
  try {
    const answer = await guardedFetch(request);
    if (!answer.ok || !answer.body) throw new Error(`no stream: ${answer.status}`);
    onOpen();
    const parser = createParser({
      onEvent: ({ data }) => {
        const event = parseEvent(data);
        if (event) onEvent(event);
      },
    });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
  }
}
