import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { withoutFrontMatter } from "./card";
import styles from "./exports.module.css";

// A card holds names and descriptions that strangers wrote: nothing in it leads or reaches anywhere.
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
  table: ({ children }) => (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
    <div className={styles.cardTable} tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/** Markdown as the page's own elements. HTML in it is text. */
export default function CardView({ card }: { card: string }) {
  return (
    <div className={styles.card} dir="auto">
      <Markdown remarkPlugins={[remarkGfm]} components={COMPONENTS} disallowedElements={LEFT_OUT} unwrapDisallowed>
        {withoutFrontMatter(card)}
      </Markdown>
    </div>
  );
}
