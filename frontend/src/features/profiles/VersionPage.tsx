import { useQuery } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { useCreateDraft, versionQuery, versionsQuery, yamlQuery, type Version } from "@/api/profiles";
import { useIsAllowed } from "@/api/roles";
import { Button, ButtonLink } from "@/components/Button";
import { Facts } from "@/components/Figures";
import { Moment } from "@/components/Moment";
import { Page, Section } from "@/components/Page";
import { Loaded } from "@/components/states";
import { StateBadge } from "@/components/StateBadge";
import { tell, tellError } from "@/components/toasts";
import { ContentView } from "./ContentView";
import { DraftEditor } from "./DraftEditor";
import styles from "./profiles.module.css";
import { VERSION_STATES } from "./states";

export default function VersionPage() {
  const params = useParams<{ name: string; version: string }>();
  const version = Number(params.version);
  const found = useQuery(versionQuery(params.name, version));
  const shown = found.data?.data;
  const mayDraft = useIsAllowed("profiles");
  return (
    <Page
      key={`${params.name} ${version}`}
      title={`${params.name} v${version}`}
      purpose={
        shown?.state === "draft"
          ? "A draft: change it until it is right, then publish it so that jobs can use it."
          : "What this version of the profile asks of a document. It stays as it is for ever."
      }
      badge={shown && <StateBadge term={VERSION_STATES[shown.state]} />}
      back={{ href: "/profiles", label: "Profiles" }}
      actions={shown?.state === "published" && mayDraft && <DraftFrom version={shown} />}
    >
      <Loaded query={found} what="the profile">
        {({ data, etag }) => (
          <div className={styles.two}>
            <div className={styles.column}>
              {data.state === "draft" && mayDraft ? (
                <DraftEditor version={data} etag={etag} />
              ) : (
                <>
                  <Section title="What it asks">
                    <ContentView content={data.content} />
                  </Section>
                  <YamlSection version={data} etag={etag} />
                </>
              )}
            </div>
            <div className={styles.column}>
              <About version={data} />
              <Versions current={data} />
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function DraftFrom({ version }: { version: Version }) {
  const [, go] = useLocation();
  const create = useCreateDraft();
  const isBundled = version.author === "system";
  if (isBundled) {
    return <ButtonLink href={`/profiles?from=${version.id}`}>Make your own from it</ButtonLink>;
  }
  return (
    <Button
      look="primary"
      isDisabled={create.isPending}
      onPress={() =>
        create.mutate(
          { name: version.name, version_id: version.id, note: "" },
          {
            onSuccess: (draft) => {
              tell(`${draft.name} v${draft.version} is a draft.`);
              go(`/profiles/${draft.name}/${draft.version}`);
            },
            onError: tellError,
          },
        )
      }
    >
      Draft the next version
    </Button>
  );
}

function YamlSection({ version, etag }: { version: Version; etag: string }) {
  const yaml = useQuery(yamlQuery(version.name, version.version, etag));
  return (
    <Section
      title="As a file"
      about={
        <>
          What <code>primer run --profile FILE</code> takes.
        </>
      }
      actions={
        <a href={`/api/v1/profiles/${version.name}/versions/${version.version}/yaml`} download>
          Download
        </a>
      }
    >
      <Loaded query={yaml} what="the file">
        {(text) => (
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys as well
          <pre className={styles.yaml} tabIndex={0} role="region" aria-label="The profile as a file">
            {text}
          </pre>
        )}
      </Loaded>
    </Section>
  );
}

function About({ version }: { version: Version }) {
  return (
    <Section title="About this version">
      <Facts
        facts={[
          { label: "Note", value: version.note || "–" },
          { label: "By", value: version.author },
          { label: "Made", value: <Moment at={version.created_at} /> },
          { label: "Last changed", value: <Moment at={version.changed_at} /> },
          ...(version.published_at ? [{ label: "Published", value: <Moment at={version.published_at} /> }] : []),
          {
            label: "SHA-256",
            value: <code title={version.sha256}>{version.sha256.slice(0, 16)}…</code>,
            meaning: "Names exactly these thresholds in reports and manifests.",
          },
        ]}
      />
    </Section>
  );
}

function Versions({ current }: { current: Version }) {
  const versions = useQuery(versionsQuery(current.name));
  return (
    <Section title="All versions">
      <Loaded query={versions} what="the versions">
        {(found) => (
          <ul className={styles.versions}>
            {found.map(({ id, version, state, changed_at }) => (
              <li key={id}>
                <Link
                  href={`/profiles/${current.name}/${version}`}
                  aria-current={id === current.id ? "page" : undefined}
                >
                  v{version}
                </Link>
                <StateBadge term={VERSION_STATES[state]} />
                <span className={styles.muted}>
                  <Moment at={changed_at} />
                </span>
                {id !== current.id && (
                  <Link href={`/profiles/compare?before=${Math.min(id, current.id)}&after=${Math.max(id, current.id)}`}>
                    compare
                  </Link>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}
