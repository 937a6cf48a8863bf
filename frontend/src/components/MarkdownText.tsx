import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import styles from "./markdown.module.css";

// It holds names and descriptions that strangers wrote: nothing in it leads or reaches anywhere.
const LEFT_OUT = ["a", "img", "input"];

// Below the headings of the page.
const COMPONENTS: Components = {
  h1: "h3",
  h2: "h4",
  h3: "h5",
  h4: "h6",
  h5: "h6",
  pre: ({ children }) => (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
    <pre tabIndex={0}>{children}</pre>
  ),
  // A heading of nothing is no heading.
  th: ({ children }) => (children ? <th>{children}</th> : <td />),
  table: ({ children }) => (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
    <div className={styles.table} tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/** Markdown as the page's own elements. HTML in it is text. Load it when it is needed: it is large. */
export default function MarkdownText({ text }: { text: string }) {
  return (
    <div className={styles.text} dir="auto">
      <Markdown remarkPlugins={[remarkGfm]} components={COMPONENTS} disallowedElements={LEFT_OUT} unwrapDisallowed>
        {text}
      </Markdown>
    </div>
  );
}
