import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense, useCallback, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { followEvents } from "@/api/events/follow";
import { Invalidator } from "@/api/events/invalidate";
import { isReachable } from "@/api/connection";
import { queryClient } from "@/api/query-client";
import { loadSession, signIn, type Session } from "@/api/session";
import { useStore } from "@/api/store";
import { loadAhead } from "@/components/lazy-part";
import { Loading } from "@/components/states";
import { Toasts } from "@/components/toasts";
import { ConnectionBanner } from "./ConnectionBanner";
import { ErrorBoundary } from "./ErrorBoundary";
import { HelpDialog } from "./HelpDialog";
import { Layout } from "./Layout";
import { PLACES } from "./places";
import { Routes } from "./routes";
import { areShortcutsOn, createReader, isWritingInto } from "@/components/shortcuts";
import { SignInAgain } from "./SignInAgain";
import { SignInPage } from "./SignInPage";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Entrance />
      <Toasts />
    </QueryClientProvider>
  );
}

/** The workbench for who is signed in, the door for who is not. */
function Entrance() {
  const now = useStore(signIn);
  const isThere = useStore(isReachable);
  useEffect(() => {
    if (now.state === "unknown" && isThere) loadSession().catch(() => undefined);
  }, [now.state, isThere]);
  if ("session" in now) return <Workbench session={now.session} isExpired={now.state === "expired"} />;
  return now.state === "signedOut" ? <SignInPage /> : <ConnectionBanner />;
}

function Workbench({ session, isExpired }: { session: Session; isExpired: boolean }) {
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const [path] = useLocation();
  useEvents();
  useEffect(loadAhead, []);
  const openHelp = useCallback(() => setIsHelpOpen(true), []);
  useShortcuts(openHelp);
  return (
    <>
      <Layout session={session} onHelp={openHelp}>
        <ErrorBoundary resetBy={path}>
          <Suspense fallback={<Loading what="the page" />}>
            <Routes />
          </Suspense>
        </ErrorBoundary>
      </Layout>
      <HelpDialog isOpen={isHelpOpen} onClose={() => setIsHelpOpen(false)} />
      <SignInAgain session={session} isOpen={isExpired} />
    </>
  );
}

function useEvents() {
  useEffect(() => {
    const stop = new AbortController();
    const invalidator = new Invalidator(queryClient);
    followEvents({ onEvent: invalidator.note, onGap: invalidator.noteEverything }, stop.signal);
    return () => stop.abort();
  }, []);
}

function useShortcuts(onHelp: () => void) {
  const [, go] = useLocation();
  const isOn = useStore(areShortcutsOn);
  useEffect(() => {
    if (!isOn) return undefined;
    const read = createReader();
    function note(event: KeyboardEvent) {
      const meaning = read({
        key: event.key,
        ctrlKey: event.ctrlKey,
        metaKey: event.metaKey,
        altKey: event.altKey,
        // What a dialog asks comes first.
        isWriting: isWritingInto(event.target) || document.querySelector("[role=dialog]") !== null,
        at: event.timeStamp,
      });
      if (meaning?.kind === "help") onHelp();
      const place = meaning?.kind === "go" ? PLACES.find(({ letter }) => letter === meaning.letter) : undefined;
      if (place) go(place.href);
    }
    window.addEventListener("keydown", note);
    return () => window.removeEventListener("keydown", note);
  }, [isOn, go, onHelp]);
}
