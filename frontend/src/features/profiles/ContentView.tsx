import { Facts } from "@/components/Figures";
import { describeThreshold, formatAsked } from "@/words/thresholds";
import { describeStage } from "@/words/terms";
import { readPlace, STAGES, type Content } from "./content";
import styles from "./profiles.module.css";

const HIDDEN = new Set(["vocabulary.sampling"]);

/** What a version asks, stage by stage, to be read. */
export function ContentView({ content }: { content: Content }) {
  const models = content.models;
  return (
    <div className={styles.stages}>
      {typeof content.description === "string" && content.description && <p>{content.description}</p>}
      <Facts facts={[factOf(content, "form")]} />
      {STAGES.map(({ stage }) => {
        const asked = content[stage];
        if (typeof asked !== "object" || asked === null) {
          return (
            <p key={stage} className={styles.muted}>
              {describeStage(stage).label}: does not take part.
            </p>
          );
        }
        const paths = Object.keys(asked)
          .map((key) => `${stage}.${key}`)
          .filter((path) => readPlace(content, path) !== null && !HIDDEN.has(path));
        return (
          <section key={stage} className={styles.stage} aria-label={describeStage(stage).label}>
            <h3>{describeStage(stage).label}</h3>
            <Facts facts={paths.map((path) => factOf(content, path))} />
          </section>
        );
      })}
      {typeof models === "object" && models !== null && Object.keys(models).length > 0 && (
        <section className={styles.stage} aria-label="Models that it belongs to">
          <h3>Models that it belongs to</h3>
          <Facts facts={Object.keys(models).map((kind) => factOf(content, `models.${kind}`))} />
        </section>
      )}
    </div>
  );
}

function factOf(content: Content, path: string) {
  const { label, meaning } = describeThreshold(path);
  return { label, meaning, value: formatAsked(path, readPlace(content, path)) };
}
