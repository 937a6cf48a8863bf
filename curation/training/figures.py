"""Draws the curves of the graders as two SVG files: calibration.svg and precision_recall.svg.

Draws only; the numbers are `grader_curves`'. Needs matplotlib (extra `train`). Invariant: the same curves give the same bytes
with the same matplotlib, whatever the settings of the person who draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

from curation.errors import TrainingError
from curation.training.evaluate import Ratio
from curation.training.grader_curves import BIN_COUNT, GraderCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_NAMES: Final = ("calibration.svg", "precision_recall.svg")

# Okabe and Ito's blue and vermilion, which colour-blind readers tell apart, with markers that differ too.
_STYLES: Final = {"encoder": ("encoder", "#0072B2", "o"), "fasttext": ("fastText", "#D55E00", "s")}
_SIZE_INCHES: Final = (10.0, 11.0)
_CAPTION_SHARE: Final = 0.07
_CAPTION_CHARS: Final = 140
# Text stays text, so that a reader can search it; ids are salted with a constant and no date is written.
_SETTINGS: Final = {"svg.hashsalt": "primer", "svg.fonttype": "none", "font.size": 9.0}

_CALIBRATION: Final = (
    "Calibration by source; profile {profile}. P(K5) of the hardest window, read by models that had not seen the row. A point "
    "is one of {bins} bins of equal count: its mean P(K5), and the part of its rows that is K5 with the 95 % Wilson interval. "
    "On the dashed line a probability means what it says."
)
_PRECISION_RECALL: Final = (
    "Precision and recall of each grader alone, by source; profile {profile}. P(K5) of the hardest window, read by models that "
    "had not seen the row. Purity is K5 among the kept at the prevalence of the rows themselves (dotted line), which is not a "
    "crawl's. Marked: purity at the profile's minimum, with the 95 % Wilson interval."
)


def require_matplotlib() -> None:
    """Raises TrainingError where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise TrainingError("Drawing figures needs matplotlib.", hint="pip install 'primer-curation[train]'") from error


def draw_figures(curves: Sequence[GraderCurve], profile: str, folder: Path) -> tuple[Path, Path]:
    """Writes both figures into `folder`, a panel for each group of sources; returns their paths.

    `profile`: what the captions name. Raises TrainingError where there is no curve, or matplotlib is not installed.
    """
    require_matplotlib()
    if not curves:
        raise TrainingError(
            f"There is no curve to draw: no grader of profile {profile} has held-out readings of a known source.",
            hint="Evaluate a folder of labelled data with a profile that has a grader.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    calibration, precision_recall = (folder / name for name in FIGURE_NAMES)
    _draw_panels(curves, _draw_calibration, _CALIBRATION.format(profile=profile, bins=BIN_COUNT), calibration)
    _draw_panels(curves, _draw_precision_recall, _PRECISION_RECALL.format(profile=profile), precision_recall)
    return calibration, precision_recall


def _draw_panels(
    curves: Sequence[GraderCurve], draw: Callable[[Axes, GraderCurve], None], caption: str, out: Path
) -> None:
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    groups = list(dict.fromkeys(curve.sources for curve in curves))
    with style.context(["default", _SETTINGS]):
        layout = ConstrainedLayoutEngine(rect=(0.0, _CAPTION_SHARE, 1.0, 1.0 - _CAPTION_SHARE))
        figure = Figure(figsize=_SIZE_INCHES, layout=layout)
        for place, group in enumerate(groups, start=1):
            axes = figure.add_subplot(2, 2, place)
            axes.set(title=" + ".join(group), xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
            axes.grid(color="#dddddd", linewidth=0.5)
            for curve in curves:
                if curve.sources == group:
                    draw(axes, curve)
            axes.legend(loc="best", fontsize=7.5)
        figure.text(0.02, 0.01, fill(caption, _CAPTION_CHARS), va="bottom", fontsize=8.5)
        figure.savefig(out, format="svg", metadata={"Date": None})


def _draw_calibration(axes: Axes, curve: GraderCurve) -> None:
    name, colour, marker = _STYLES[curve.grader]
    axes.set(xlabel="mean P(K5)", ylabel="K5 of the rows")
    axes.plot([0, 1], [0, 1], color="#666666", linewidth=0.8, linestyle="dashed")
    axes.errorbar(
        [b.mean for b in curve.bins],
        [b.k5_share.value for b in curve.bins],
        yerr=_list_errors([b.k5_share for b in curve.bins]),
        label=f"{name}: {curve.prevalence.hits:,} K5 of {curve.prevalence.total:,} rows",
        color=colour,
        marker=marker,
        markersize=4,
        linewidth=1.0,
        capsize=2,
    )


def _draw_precision_recall(axes: Axes, curve: GraderCurve) -> None:
    name, colour, marker = _STYLES[curve.grader]
    axes.set(xlabel="recall: part of the K5 kept", ylabel="purity: K5 of the kept")
    share = curve.prevalence
    axes.axhline(share.value, color=colour, linewidth=0.8, linestyle="dotted")
    axes.plot(
        [point.recall.value for point in curve.points],
        [point.purity.value for point in curve.points],
        label=f"{name}: {share.value:.1%} of {share.total:,} rows are K5",
        color=colour,
        linewidth=1.2,
    )
    if (shipped := curve.shipped) is not None and shipped.purity.total and shipped.recall.total:
        axes.errorbar(
            [shipped.recall.value],
            [shipped.purity.value],
            yerr=_list_errors([shipped.purity]),
            label=f"{name}, P(K5) ≥ {shipped.minimum:g}: purity {shipped.purity}",
            color=colour,
            marker=marker,
            markersize=7,
            markeredgecolor="black",
            linestyle="none",
            capsize=3,
        )


def _list_errors(ratios: Sequence[Ratio]) -> tuple[list[float], list[float]]:
    """How far each interval reaches below and above its value; of all hits, rounding may put the value a hair outside."""
    below = [max(0.0, ratio.value - ratio.interval[0]) for ratio in ratios]
    above = [max(0.0, ratio.interval[1] - ratio.value) for ratio in ratios]
    return below, above
