"""An evaluation's numbers as Markdown for people: tables, and what each is of.

Formats only. Invariant: every ratio is printed with its interval and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from curation.signals.fasttext_grade import BANDS
from curation.training.card import format_table
from curation.training.evaluation_report import EvaluationReport, GroupScore

_HOW: Final = (
    "Every row is decided by the shipped decision over readings of models that had not seen it. In brackets the 95 % Wilson "
    "interval, then the counts. Purity is K5 among all kept, at the prevalence of the rows scored, which is not a crawl's. "
    "Undecided rows are in no ratio."
)
_ROW_COLUMNS: Final = ("loaded", "duplicate", "trained", "unseen", "evaluated", "live")
_SCORE_COLUMNS: Final = ("purity", "K5 kept", "beyond K-5 kept", "K8 kept", "K12 kept", "OOS kept", "undecided")


def write_report(report: EvaluationReport) -> str:
    """The whole report; the same numbers give the same text."""
    models = [f"- {kind}: {sha256}" for kind, sha256 in report.models.items()]
    notes = [f"- {note}" for note in report.notes]
    sections = [
        ("Scores by source", f"{_HOW}\n\n{_format_scores(report.by_source, ('source',))}"),
        ("Aims", _format_aims(report)),
        ("Purity on a crawl", _format_projection(report)),
        ("What decided", _format_confusions(report)),
        ("Scores by subject", _format_scores(report.by_subject, ("source", "subject"))),
        ("Scores by genre", _format_scores(report.by_genre, ("source", "genre"))),
        ("Calibration of the encoder", _format_calibration(report)),
        ("Precision and recall", _format_curve(report)),
        ("Rows", _format_rows(report)),
        ("Scores of the live rows alone", _format_scores(report.live_by_source, ("source",), "There are none.")),
        ("Models and notes", "\n".join([*models, *notes])),
    ]
    body = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections)
    return f"# Evaluation of profile {report.profile}\n\nStages: {', '.join(report.stages)}.\n\n{body}\n"


def _format_scores(scores: Sequence[GroupScore], names: tuple[str, ...], nothing: str = "The data names none.") -> str:
    if not scores:
        return nothing
    rows = [
        (
            *(score.source, score.name)[: len(names)],
            score.purity,
            score.k5_kept,
            score.beyond_kept,
            score.k8_kept,
            score.k12_kept,
            score.oos_kept,
            score.undecided,
        )
        for score in scores
    ]
    return format_table((*names, *_SCORE_COLUMNS), rows)


def _format_aims(report: EvaluationReport) -> str:
    rows = []
    for aim in report.aims:
        margin = (
            "no rows"
            if aim.margin_ratio is None
            else f"{'met' if aim.is_met else 'missed'} by {abs(aim.margin_ratio):.2%}"
        )
        rows.append((f"({aim.name}) {aim.sources}", f"{aim.measure} {aim.bound:.0%}", aim.found, margin))
    return "Judged by the value found, not by its interval; margins are percentage points.\n\n" + format_table(
        ("aim", "wanted", "found", "result"), rows
    )


def _format_projection(report: EvaluationReport) -> str:
    if not report.projected_purity:
        return "There are no web rows."
    rows = [
        (p.source, f"{p.prevalence:.1%}", _percent(p.purity), f"{_percent(p.low)} to {_percent(p.high)}")
        for p in report.projected_purity
    ]
    lead = (
        "K5 among the kept if that part of the pages were K5 and the rest leaked like these rows. The range takes both "
        "intervals at their worst and best. `web_read` was chosen for likely K5 pages, so its other pages leak more."
    )
    return f"{lead}\n\n" + format_table(("source", "K5 pages", "purity", "range"), rows)


def _format_confusions(report: EvaluationReport) -> str:
    tables = []
    for source, table in report.confusions.items():
        outcomes = list(table["K5"])
        rows = [(f"**{band}**", *(table[band][outcome] for outcome in outcomes)) for band in BANDS]
        tables.append(f"{source}:\n\n" + format_table(("band", *outcomes), rows))
    return "Rows by band: kept, undecided, or the first stage that excludes.\n\n" + "\n\n".join(tables)


def _format_calibration(report: EvaluationReport) -> str:
    if not report.calibration:
        return "The encoder takes no part."
    rows = [
        (b.source, f"{b.low:.1f}-{b.high:.1f}", "-" if b.mean is None else f"{b.mean:.3f}", b.k5_share)
        for b in report.calibration
    ]
    return "P(K5) of the hardest window.\n\n" + format_table(("source", "P(K5)", "mean P(K5)", "K5 of rows"), rows)


def _format_curve(report: EvaluationReport) -> str:
    if not report.precision_recall:
        return "The profile has no grader."
    grader = report.precision_recall[0].grader
    rows = [(p.source, f"{p.minimum:g}", p.precision, p.recall, p.beyond_kept) for p in report.precision_recall]
    lead = f"The whole cascade, its {grader} stage replaced by a minimum of P(K5) in the hardest window."
    return f"{lead}\n\n" + format_table(("source", "minimum", "precision", "recall", "beyond K-5 kept"), rows)


def _format_rows(report: EvaluationReport) -> str:
    lead = (
        "Trained: an artefact has seen them and no held-out reading is kept. Unseen: a grader never saw them; of each source "
        f"at most {report.live_count} were drawn (seed {report.seed}) and read by the shipped graders: live."
    )
    rows: Iterable[Sequence[object]] = [
        (source, *(counts[name] for name in _ROW_COLUMNS)) for source, counts in report.rows.items()
    ]
    return f"{lead}\n\n" + format_table(("source", *_ROW_COLUMNS), rows)


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"
