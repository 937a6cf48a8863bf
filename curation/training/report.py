"""Turns tables of held-out scores into the Markdown of a card. Counts and thresholds come from `evaluate`.

Nothing here trains or reads a text. Invariant: each table of scores names what was held out of the scoring model.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.signals.fasttext_grade import BANDS
from curation.training.card import format_scores, format_table
from curation.training.evaluate import choose_threshold, count_confusions, score_by_source, score_keep
from curation.training.sources import GRADED, LABELLED_WEB
from curation.training.vocabulary_scores import list_rules

LEAK_RATIOS: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
TOKEN_COUNT_EDGES: Final = (0, 150, 300, 600, 1_000_000_000)

HELD_OUT: Final = (
    "Five folds; a group is held out whole: a topic of `paired`, a page type of `paired_web` "
    "and of `written_web`, a host of `labelled_web` and `web_read` together, a family of `graded`. In brackets the 95 % "
    "Wilson interval, then the counts. Purity is K5 among all kept, at the prevalence of the rows scored. Of real "
    "educational web pages about 1.5 % are K5, so purity on a crawl is far lower; the line `labelled_web` is nearest to "
    "it and rests on few K5 pages."
)
LIMITS: Final = (
    "A first model on little data. K5 web pages are few, so the scores on `labelled_web` have wide intervals. The paired "
    "documents were written for the purpose by few hands, and graded families stand for their genres: a score on "
    "another family is the honest one. The web pages were labelled by language models under the rubric, most of them "
    "once. Bytes and scores repeat for one kind of CPU; another may differ in the last digits."
)


def describe_top_label(graded: pa.Table) -> str:
    """Keep where K5 is the top label, by source, and the confusions of the web pages and of all rows."""
    probabilities = _probabilities(graded)
    parts = [format_scores(score_by_source(graded, _is_top_k5(graded)))]
    is_web = np.array(graded["source"].to_pylist(), dtype=object) == LABELLED_WEB
    for name, mask in ((LABELLED_WEB, is_web), ("all sources", np.ones(len(is_web), dtype=bool))):
        bands = np.array(graded["band"].to_pylist(), dtype=object)[mask]
        matrix = count_confusions(list(bands), probabilities[mask])
        rows = [(f"**{band}**", *line) for band, line in zip(BANDS, matrix.tolist(), strict=True)]
        parts.append(f"True band by top label, {name}:\n\n" + format_table(("", *BANDS), rows))
    return "\n\n".join(parts)


def describe_thresholds(graded: pa.Table) -> str:
    """For each stated leak of web pages: the threshold on P(K5), whole document and hardest window, and what both do to
    every source."""
    web = graded.filter(pc.equal(graded["source"], LABELLED_WEB))
    if not any(band != "K5" for band in web["band"].to_pylist()):
        return "No web pages beyond K-5 to set a threshold by."
    parts = []
    for column, name in (("p_k5", "Whole document"), ("hardest_p_k5", "Hardest window")):
        rows = []
        for leak in LEAK_RATIOS:
            scores = web[column].to_numpy().astype(np.float64)
            threshold = choose_threshold(web["band"].to_pylist(), scores, max_leak_ratio=leak)
            is_kept = np.nan_to_num(graded[column].to_numpy(), nan=-1.0) >= threshold
            by_source = score_by_source(graded, is_kept)
            kept_web = by_source.pop(LABELLED_WEB)
            by_source.pop("total")
            others = [f"{s.k5_kept.value:.0%} / {s.beyond_kept.value:.1%}" for s in by_source.values()]
            rows.append((f"{leak:.1%}", f"{threshold:.4f}", kept_web.k5_kept, kept_web.purity, *others))
        names = sorted(set(graded["source"].to_pylist()) - {LABELLED_WEB})
        header = ("leak of web pages", "P(K5) >=", "web: K5 kept", "web: purity", *(f"{n}: K5 / beyond" for n in names))
        parts.append(f"{name}:\n\n" + format_table(header, rows))
    return "\n\n".join(parts)


def describe_groups(graded: pa.Table, *, marked: frozenset[str] = frozenset()) -> str:
    """The part of each graded family whose top label is K5, and whose top label is its own; `marked` ones with a star."""
    groups = np.array(graded["group"].to_pylist(), dtype=object)
    bands = np.array(graded["band"].to_pylist(), dtype=object)
    is_graded = np.array(graded["source"].to_pylist(), dtype=object) == GRADED
    is_k5 = _is_top_k5(graded)
    is_right = np.array(BANDS, dtype=object)[np.nan_to_num(_probabilities(graded)).argmax(axis=1)] == bands
    rows = []
    for group in sorted(set(groups[is_graded])):
        at = is_graded & (groups == group)
        score = score_keep(list(bands[at]), is_k5[at])
        name = f"{group} *" if group in marked else group
        rows.append((name, int(at.sum()), f"{is_right[at].mean():.2f}", score.k5_kept, score.beyond_kept))
    return format_table(("family", "rows", "accuracy", "K5 kept", "beyond K-5 kept"), rows)


def describe_rules(scored: pa.Table) -> str:
    """K5 kept / beyond K-5 kept of every rule, by source."""
    sources = [*sorted(set(scored["source"].to_pylist())), "total"]
    rows = []
    for name, keep in list_rules().items():
        by_source = score_by_source(scored, keep(scored))
        cells = [f"{by_source[s].k5_kept.value:.1%} / {by_source[s].beyond_kept.value:.1%}" for s in sources]
        rows.append((name, *cells))
    return format_table(("exclude on", *sources), rows)


def describe_rules_by_length(scored: pa.Table) -> str:
    """K5 kept / beyond K-5 kept of every rule, by number of tokens."""
    bands = np.array(scored["band"].to_pylist(), dtype=object)
    sizes = scored["token_count"].to_numpy()
    spans = list(pairwise(TOKEN_COUNT_EDGES))
    rows = []
    for name, keep in list_rules().items():
        is_kept = keep(scored)
        cells = []
        for low, high in spans:
            at = (sizes >= low) & (sizes < high)
            score = score_keep(list(bands[at]), is_kept[at])
            cells.append(f"{score.k5_kept.value:.0%} / {score.beyond_kept.value:.0%}")
        rows.append((name, *cells))
    counts = [int(((sizes >= low) & (sizes < high) & (bands == "K5")).sum()) for low, high in spans]
    names = [f"{low}-{high - 1}" if high < spans[-1][1] else f"{low} or more" for low, high in spans]
    return format_table(("exclude on", *(f"{n} ({c} K5)" for n, c in zip(names, counts, strict=True))), rows)


def _probabilities(graded: pa.Table) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.column_stack([graded[f"p_{band.lower()}"].to_numpy() for band in BANDS])


def _is_top_k5(graded: pa.Table) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    probabilities = _probabilities(graded)
    is_top: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = np.nan_to_num(probabilities).argmax(axis=1) == 0
    return is_top & ~np.isnan(probabilities[:, 0])
