import type { Session } from "@/api/session";
import { Dialog } from "@/components/Dialog";
import { SignInForm } from "./SignInForm";

/** Over whatever is on the screen: the same person signs in again, and what was asked is asked once more. */
export function SignInAgain({ session, isOpen }: { session: Session; isOpen: boolean }) {
  return (
    <Dialog title="Your session has ended" isOpen={isOpen} onClose={() => undefined} isUrgent>
      <p>Sign in again to go on where you are. Nothing is lost: what you just asked for is sent once more.</p>
      <SignInForm name={session.name} />
    </Dialog>
  );
}
