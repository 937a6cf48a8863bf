import { Component, type ReactNode } from "react";
import { ProblemMessage } from "@/components/ProblemMessage";
import { Page } from "@/components/Page";

interface ErrorBoundaryProps {
  /** Another page is another chance. */
  resetBy: string;
  children: ReactNode;
}

interface ErrorBoundaryState {
  error: unknown;
  resetBy: string;
}

/** A page that breaks takes only itself away: the navigation stays. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { error: undefined, resetBy: this.props.resetBy };

  static getDerivedStateFromError(error: unknown): Partial<ErrorBoundaryState> {
    return { error: error ?? new Error("unknown") };
  }

  static getDerivedStateFromProps(props: ErrorBoundaryProps, state: ErrorBoundaryState): ErrorBoundaryState | null {
    return props.resetBy === state.resetBy ? null : { error: undefined, resetBy: props.resetBy };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <Page title="This page does not work" purpose="The others do; what was done before is not affected.">
        <ProblemMessage error={this.state.error} onRetry={() => window.location.reload()} />
      </Page>
    );
  }
}
