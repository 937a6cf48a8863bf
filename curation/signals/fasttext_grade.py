"""Stage 2's signal: what a fastText model says of a document's grade band, whole and in its hardest window.

Measures only; thresholds live in profiles. Invariant: a row is four probabilities in the order of BANDS or four NaN,
and a NaN row has a reason. fastText holds the GIL: more throughput comes from more processes, not threads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import fasttext
import numpy as np
import numpy.typing as npt

from curation.errors import ArtifactError
from curation.signals.bands import BANDS as BANDS
from curation.signals.fasttext_file import check_model_file
from curation.signals.windows import Window

FASTTEXT_VERSION: Final = "1"

BLANK: Final = "blank"
LONE_SURROGATE: Final = "lone_surrogate"
NO_KNOWN_WORD: Final = "no_known_word"

_PREFIX = "__label__"
_END_OF_LINE = "</s>"
# White space to Python but letters to fastText: without this a line break of this kind glues two words together.
_BREAK = re.compile("[\n\r\v\f\0\x1c-\x1f\x85\u2028\u2029]")

Grades = npt.NDArray[np.float32]


class WindowGrades(NamedTuple):
    """One row a document: `whole` and `hardest` float32 (n, 4) in BANDS order; `start` and `end` int64 (n,) are the
    hardest window's offsets in characters, -1 where `hardest` is NaN; `reasons` maps a NaN row of `whole` to a code."""

    whole: Grades
    hardest: Grades
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    reasons: dict[int, str]


class FastTextGrade:
    """A fastText classifier over the four bands, loaded once.

    Labels are `__label__K5` and so on in any case, or `__label__0` to `__label__3` in the order of BANDS. Raises
    ArtifactError when the file is missing, is no whole fastText classifier, or has other labels.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ArtifactError(f"no fastText model at {self.path}.", hint="Name the file or fetch the artefacts.")
        check_model_file(self.path)
        try:
            self._model = fasttext.load_model(str(self.path))
            labels = list(self._model.get_labels())
        except (ValueError, MemoryError, UnicodeDecodeError) as error:
            raise ArtifactError(f"{self.path} is not a readable fastText model: {error}.") from error
        self._columns = map_labels(labels, self.path)

    def predict(self, texts: Sequence[str], *, published: bool = False) -> Grades:
        """`predict_with_reasons` without the reasons."""
        return self.predict_with_reasons(texts, published=published)[0]

    def predict_with_reasons(self, texts: Sequence[str], *, published: bool = False) -> tuple[Grades, dict[int, str]]:
        """Probabilities, float32 (n, 4) in BANDS order that sum to about 1 (softmax models), and a reason code for each row that is NaN.

        By default every line break and a literal `</s>` is a space, and blank text is NaN (`blank`). With
        `published` the text goes in as the published filter sends it: only newlines become spaces, `</s>` hides what
        follows, blank text gets what the model says of it. A text with a lone surrogate is NaN (`lone_surrogate`) in
        both, and the rest of its batch is measured.
        """
        grades = np.full((len(texts), len(BANDS)), np.nan, dtype=np.float32)
        reasons: dict[int, str] = {}
        rows: list[int] = []
        lines: list[str] = []
        for row, text in enumerate(texts):
            line = text.replace("\n", " ") if published else flatten_line(text)
            if not published and not line.strip():
                reasons[row] = BLANK
            elif not _is_encodable(line):
                reasons[row] = LONE_SURROGATE
            else:
                rows.append(row)
                lines.append(line)
        if not lines:
            return grades, reasons
        # The list form: the single-string call breaks under numpy 2 in several builds.
        all_labels, all_probabilities = self._model.predict(lines, k=len(BANDS), threshold=0.0)
        for row, labels, probabilities in zip(rows, all_labels, all_probabilities, strict=True):
            if len(labels) == len(BANDS):
                grades[row, [self._columns[label] for label in labels]] = probabilities
            else:
                reasons[row] = NO_KNOWN_WORD
        return np.clip(grades, 0.0, 1.0, out=grades), reasons


def measure_windows(model: FastTextGrade, texts: Sequence[str], windows: Sequence[Sequence[Window]]) -> WindowGrades:
    """Grades each text whole and by the given windows of it, in one call of the model.

    The hardest window is the one with the lowest P(K5), the first of equals; a text of one window takes its whole
    result. A text that cannot be graded whole has no hardest window.
    """
    batch = list(texts)
    owners: list[int] = []
    pieces: list[Window] = []
    for row, (text, spans) in enumerate(zip(texts, windows, strict=True)):
        if len(spans) > 1:
            owners.extend([row] * len(spans))
            pieces.extend(spans)
            batch.extend(text[span.start : span.end] for span in spans)
    grades, all_reasons = model.predict_with_reasons(batch)
    n = len(texts)
    whole = grades[:n]
    hardest = whole.copy()
    start = np.full(n, -1, dtype=np.int64)
    end = np.full(n, -1, dtype=np.int64)
    is_measured = ~np.isnan(whole[:, 0])
    for row, spans in enumerate(windows):
        if is_measured[row] and len(spans) == 1:
            start[row], end[row] = spans[0]
        elif len(spans) != 1:
            hardest[row] = np.nan
    for row, span, grade in zip(owners, pieces, grades[n:], strict=True):
        if is_measured[row] and not np.isnan(grade[0]) and not grade[0] >= hardest[row, 0]:
            hardest[row] = grade
            start[row], end[row] = span
    return WindowGrades(whole, hardest, start, end, {row: why for row, why in all_reasons.items() if row < n})


def flatten_line(text: str) -> str:
    """The text as one line that fastText reads to its end: line breaks, NUL and `</s>` are spaces."""
    return _BREAK.sub(" ", text).replace(_END_OF_LINE, " ")


def map_labels(labels: Sequence[str], path: Path) -> dict[str, int]:
    """The column in BANDS of each label of the model; raises ArtifactError unless they are exactly the four bands."""
    names = {**{band.lower(): column for column, band in enumerate(BANDS)}, **{str(i): i for i in range(len(BANDS))}}
    columns = {label: names.get(label.removeprefix(_PREFIX).lower(), -1) for label in labels}
    if sorted(columns.values()) != list(range(len(BANDS))):
        raise ArtifactError(
            f"{path} has the labels {', '.join(sorted(labels)[:12])}, not the four grade bands.",
            hint=f"A grade model has {', '.join(_PREFIX + band for band in BANDS)} or {_PREFIX}0 to {_PREFIX}3.",
        )
    return columns


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
