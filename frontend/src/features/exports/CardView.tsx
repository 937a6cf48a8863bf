import MarkdownText from "@/components/MarkdownText";
import { withoutFrontMatter } from "./card";

export default function CardView({ card }: { card: string }) {
  return <MarkdownText text={withoutFrontMatter(card)} />;
}
