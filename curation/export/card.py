"""README.md of an export: the data set card, a pure function of the manifest.

Names and descriptions are strangers' text: YAML is dumped, never pasted, and Markdown is escaped.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from curation.export.request import CONTROL, CURRICULUM

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGER_SIZES = (
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
    (10_000_000_000, "1B<n<10B"),
)
_STAGE_NAMES = {
    "lexical": "age of acquisition",
    "fasttext": "fastText grade",
    "encoder": "encoder grade",
    "notation": "advanced notation",
    "vocabulary": "beyond-K-5 vocabulary",
    "override": "rulings of curators",
    "source_rule": "source rules",
}
_MATCHES = {
    "tokens": "tokens in all",
    "tokens_length": "tokens in every octave of document length",
    "tokens_length_domain": "tokens in every octave of document length and every host",
}


def build_card(manifest: dict[str, Any]) -> str:
    """`manifest` without the card's own entry."""
    profile = manifest["profile"]["content"]
    sections = [
        f"# {escape_markdown(_name_export(profile))}",
        manifest["statement"],  # made of names and hashes that hold no markup
        _describe(manifest),
        _tabulate_totals(manifest),
        _tabulate_funnel(manifest),
        _explain_columns(),
        _explain_loading(manifest),
        _explain_limits(manifest),
        "## How to verify\n\n`primer verify FOLDER` checks every file against `manifest.json`; with the run it was made from "
        "(`--run`), it also measures and decides a sample of documents again. Two exports of one request have equal bytes.",
    ]
    return f"---\n{_dump_front_matter(manifest)}---\n\n" + "\n\n".join(sections) + "\n"


def list_configs(manifest: dict[str, Any]) -> list[str]:
    """The configs of the export, the default first."""
    return [config for config in (CURRICULUM, CONTROL) if config in manifest["totals"]]


def list_loadable_splits(manifest: dict[str, Any], config: str) -> list[str]:
    """The splits that the card declares. The datasets library fails on a split without rows, and then on its config: so
    such a split is left out, unless all are empty and a stream of nothing is all that there is to load."""
    totals = manifest["totals"][config]
    return [split for split, total in totals.items() if total["rows"]] or list(totals)


def escape_markdown(text: str) -> str:
    """One line in which nothing is markup."""
    line = " ".join(text.split())
    line = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\\[\]|*_~#!$`])", r"\\\1", line)


def _name_export(profile: dict[str, Any]) -> str:
    return f"Curriculum by the profile {profile['name']} (version {profile['version']}), with its control"


def _dump_front_matter(manifest: dict[str, Any]) -> str:
    rows = max(sum(split["rows"] for split in splits.values()) for splits in manifest["totals"].values())
    matter = {
        "pretty_name": _name_export(manifest["profile"]["content"]),
        "language": ["en"],
        "license": "other",
        "license_name": manifest["options"]["license_name"],
        "task_categories": ["text-generation"],
        "size_categories": [next((name for limit, name in _SIZES + _LARGER_SIZES if rows < limit), "10B<n<100B")],
        "tags": ["curriculum", "education", "k-5", "pretraining"],
        "configs": [
            {
                "config_name": config,
                **({"default": True} if config == list_configs(manifest)[0] else {}),
                "data_files": [
                    {"split": split, "path": f"data/{config}/{split}-*.parquet"}
                    for split in list_loadable_splits(manifest, config)
                ],
            }
            for config in list_configs(manifest)
        ],
    }
    return str(yaml.safe_dump(matter, sort_keys=False, allow_unicode=False, width=1000))


def _describe(manifest: dict[str, Any]) -> str:
    match = _MATCHES[manifest["control"]["match"]]
    description = manifest["profile"]["content"]["description"]
    held = "Config `curriculum` holds what the profile keeps. " if CURRICULUM in manifest["totals"] else ""
    lines = [
        f"Documents for pretraining on language that does not go beyond grade 5. {held}Config `control` is a seeded sample "
        "of the same source, filtered by nothing, as an experiment needs it: it "
        f"is matched by {match}, and rows that the curriculum keeps may be among it.",
    ]
    if description:
        lines.append(f"The profile: {escape_markdown(description)}")
    return "\n\n".join(lines)


def _tabulate_totals(manifest: dict[str, Any]) -> str:
    rows = [
        f"| {config} | {split} | {total['files']:,} | {total['rows']:,} | {total['tokens']:,} |"
        for config in list_configs(manifest)
        for split, total in manifest["totals"][config].items()
    ]
    note = manifest["token_note"]
    return "\n".join(
        [
            "## Totals",
            "",
            "| config | split | files | documents | tokens |",
            "|---|---|---:|---:|---:|",
            *rows,
            "",
            f"Tokens are the source's own counts for {note['counted_by_source']:,} of its documents and estimated from their "
            f"bytes for {note['estimated_from_bytes']:,}.",
        ]
    )


def _tabulate_funnel(manifest: dict[str, Any]) -> str:
    funnel = manifest["funnel"]
    documents, tokens = funnel["documents"], funnel["tokens"]
    unreadable = documents["error"]
    rows = [
        f"| {_STAGE_NAMES.get(step['stage'], step['stage'])} | {step['excluded']:,} | {step['excluded_tokens']:,} | {step['left']:,} "
        f"| {step['left_tokens']:,} |"
        for step in funnel["published_order"]
    ]
    lines = [
        "## What each stage took away",
        "",
        f"Of {sum(documents.values()):,} documents of the source {unreadable:,} could not be read, {documents['kept']:,} "
        f"({tokens['kept']:,} tokens) are kept. A document is counted at the first stage that excludes it; the order "
        "changes these counts and never what is kept.",
        "",
        "| stage | excluded | tokens excluded | left | tokens left |",
        "|---|---:|---:|---:|---:|",
        *rows,
    ]
    if manifest["overrides"] is not None:
        revision = manifest["overrides"]["revision"]
        lines += ["", f"Rulings of curators up to revision {revision:,} replace the decision where there is one."]
    if manifest["source_rules"] is not None:
        count = manifest["source_rules"]["count"]
        lines += ["", f"Documents that {count:,} source rules match are in no config, whatever they read like."]
    if gate := manifest.get("leak_gate"):
        low, high = gate["interval_95"]
        lines += [
            "",
            f"Of the curriculum's {gate['documents']:,} documents {gate['leaking']:,} ({gate['share']:.4%}; exact 95 % interval "
            f"{low:.4%} to {high:.4%}) mention a concept of the catalogue {gate['catalogue']['name']} v{gate['catalogue']['version']}; "
            f"the export allows {gate['max_share']:.4%}.",
        ]
    return "\n".join(lines)


def _explain_columns() -> str:
    return "\n".join(
        [
            "## Columns",
            "",
            "The columns of the source, and:",
            "",
            "- `primer_band`: `K5`; null in the control where the profile does not keep the document.",
            "- `primer_k5`, `primer_k8`, `primer_k12`, `primer_oos`: the classifier's probabilities, null where none ran.",
            "- `primer_p95_aoa`: 95th percentile of the ages at which its words are learnt, in years.",
            "- `primer_oov_ratio`: share of its words that no table knows.",
            "- `primer_shard`, `primer_row`: the file of the source and the row in it, from 0.",
            "- `primer_decided_by`: `override` where a person ruled, else null.",
        ]
    )


def _explain_loading(manifest: dict[str, Any]) -> str:
    loads = [f'{config} = load_dataset("FOLDER", "{config}")' for config in list_configs(manifest)]
    splits = [
        f"`{config}` has {', '.join(f'`{split}`' for split in list_loadable_splits(manifest, config))}"
        for config in list_configs(manifest)
    ]
    is_empty = any(sum(total["rows"] for total in splits.values()) == 0 for splits in manifest["totals"].values())
    empty = "" if not is_empty else " Nothing was kept: the library loads what has no rows only with `streaming=True`."
    return (
        "## How to load\n\n```python\nfrom datasets import load_dataset\n\n"
        f"{chr(10).join(loads)}\n```\n\n{'; '.join(splits)}.{empty}"
    )


def _explain_limits(manifest: dict[str, Any]) -> str:
    options = manifest["options"]
    lines = [
        "## Limits",
        "",
        "- The profile measures words, notation and a classifier's opinion. It does not check facts, quality or harm, and "
        "some documents beyond grade 5 pass.",
        f"- Each document keeps the licence of its source ({escape_markdown(options['license_name'])}).",
    ]
    if (sample := manifest["run"].get("sample")) is not None:
        lines.append(
            f"- Made for a trial, from a sample of about {100 * sample['share']:g} % of the source (seed {sample['seed']}): "
            "curriculum, control and all counts are of that sample."
        )
    if options["token_budget"] is not None:
        lines.append(
            f"- A budget of {options['token_budget']:,} tokens ended the curriculum at the first document beyond it."
        )
    if manifest["json_columns"]:
        names = ", ".join(escape_markdown(repr(name)) for name in manifest["json_columns"])
        lines.append(f"- Shards store these columns in types that have no common one; they hold JSON text: {names}.")
    for shard in manifest["inputs"]:
        if shard["error"]:
            lines.append(f"- Rows may be missing from a shard: {escape_markdown(shard['error'])}")
    return "\n".join(lines)
