"""Stage 3's signal: what an encoder says of a document's grade band, in its hardest window or as published.

Measures only; which documents are worth it is the recipe's to say. Invariant: a text's grades depend on that text alone,
whatever its neighbours in a batch. On CUDA windows are scored in bfloat16; where the lowest P(K5) of a text then lies in
EXACT_BAND, its windows in that band are scored once more, each alone and in fp32, and those scores are kept.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding

from curation.artifacts.encoder_folder import TORCH_MODEL, list_encoder_files
from curation.errors import ArtifactError
from curation.signals.bands import BANDS
from curation.signals.encoder_config import (
    load_tokenizer,
    read_config,
    read_special_ids,
    read_window_tokens,
    require_bands,
)
from curation.signals.windows import choose_windows

ENCODER_VERSION: Final = "1"
DEVICE_VARIABLE: Final = "PRIMER_ENCODER_DEVICE"
# Fixed, as a signal knows no threshold. Any threshold on P(K5) from 0.1 to 0.9 meets fp32 scores as long as bfloat16 moves
# the log-odds of K5 by less than 0.74; the most that was measured is 0.18 (benchmarks/results/encoder_precision.md). A top
# band of K5 needs P(K5) >= 0.25, so it is one of fp32 too.
EXACT_BAND: Final = (0.05, 0.95)

_LENGTH_STEP = 32  # windows are padded to a multiple: few shapes, and at most 31 tokens of padding
_BLOCK_CHARS = 1 << 16  # tokenised at once: the tokenizer's own records take a hundred bytes a token
_SPACE_SEARCH_CHARS = 1_000  # a block ends before white space where there is any within so many characters
_TEXTS_AT_ONCE = 256  # tokenised by all cores together, for a GPU
_POOL_WINDOWS = (512, 4_096)  # handed to a GPU together: few at first, so that it starts early, then more to sort

_T = TypeVar("_T")
_R = TypeVar("_R")

Grades = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]


class Scorer(Protocol):
    """A loaded model. `score`: ids and mask int64 (batch, length) -> logits float32 (batch, 4) in BANDS order.

    `batch_tokens`: rows times padded length of a batch; fixed, because another shape gives other last digits.
    """

    batch_tokens: int

    def score(self, ids: npt.NDArray[np.int64], mask: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]: ...


@runtime_checkable
class PoolScorer(Protocol):
    """A loaded model on a GPU. Windows with their special tokens -> logits float32 (n, 4) in BANDS order.

    `score_pool`: any number of windows, fast, in bfloat16. `score_alone`: each by itself, in fp32.
    """

    def score_pool(self, windows: Sequence[Ids]) -> npt.NDArray[np.float32]: ...

    def score_alone(self, windows: Sequence[Ids]) -> npt.NDArray[np.float32]: ...


class HardestWindows(NamedTuple):
    """One row a text: `grades` float32 (n, 4) in BANDS order of the hardest window, NaN where there is no token; `start`
    and `end` int64 (n,) are its offsets in characters, -1 where there is none; `is_sampled` where not every window was read."""

    grades: Grades
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    is_sampled: npt.NDArray[np.bool_]


class _Block(NamedTuple):
    """A stretch of a text as the tokenizer read it: its first token's number, its first character's place."""

    first_token: int
    first_char: int
    encoding: Encoding


@dataclass(frozen=True)
class _Tokens:
    """A text's tokens without special ones."""

    ids: Ids
    blocks: list[_Block]

    def find_span(self, start: int, end: int) -> tuple[int, int]:
        """The characters that tokens `start` to `end` stand for, `end` exclusive."""
        return self._find_chars(start)[0], self._find_chars(end - 1)[1]

    def _find_chars(self, token: int) -> tuple[int, int]:
        # One token at a time: the offsets of all are a list of tuples, slow to make and hardly looked at.
        block = self.blocks[bisect_right(self.blocks, token, key=lambda block: block.first_token) - 1]
        chars = block.encoding.token_to_chars(token - block.first_token)
        assert chars is not None  # that is for special tokens
        return block.first_char + chars[0], block.first_char + chars[1]


class EncoderGrade:
    """An encoder over the four bands, loaded once from an artefact folder.

    `device` None: what PRIMER_ENCODER_DEVICE says, else the CPU on one thread (more throughput comes from more
    processes). On CUDA worker processes take turns at the GPUs: one process each is the way to use several. Raises
    ArtifactError when a file is missing or damaged, or the model has other labels or outputs.
    """

    def __init__(self, folder: str | Path, *, device: str | None = None) -> None:
        self.folder = Path(folder)
        config_file, tokenizer_file, model_file = list_encoder_files(self.folder)
        self._tokenizer = load_tokenizer(tokenizer_file)
        self._prefix, self._suffix = read_special_ids(self._tokenizer, tokenizer_file)
        config = read_config(config_file)
        require_bands(config, config_file)
        self.window_tokens = read_window_tokens(config, config_file)
        if self._room < 1:
            raise ArtifactError(f"{config_file}: a window of {self.window_tokens} tokens has room for no text.")
        pad = config.get("pad_token_id")
        self._pad = pad if isinstance(pad, int) else 0
        device = device or os.environ.get(DEVICE_VARIABLE) or "cpu"
        if device not in ("cpu", "cuda"):
            raise ArtifactError(f"{DEVICE_VARIABLE} is {device!r}.", hint="Set it to cpu or cuda.")
        self._scorer = _load_scorer(model_file, device, self.window_tokens)
        self._require_grades(model_file)

    @property
    def _room(self) -> int:
        return self.window_tokens - len(self._prefix) - len(self._suffix)

    def grade_windows(self, texts: Sequence[str], *, max_windows: int, seed: int) -> HardestWindows:
        """Cut each text into windows, score them and take the one with the lowest P(K5), the first of equals.

        A window holds as many tokens as the model was trained on. A last one of less than a quarter of that starts
        earlier, so that it is as long as the others, as in training. Above `max_windows` the first, the last and a
        sample drawn with `seed` are read.
        """
        owners: list[int] = []
        spans: list[tuple[int, int]] = []
        is_sampled = np.zeros(len(texts), bool)

        def cut_windows() -> Iterator[Ids]:
            for row, tokens in enumerate(self._tokenize_all(texts)):
                if tokens is None or not len(tokens.ids):
                    continue
                cuts = _cut_tokens(len(tokens.ids), self._room)
                places = choose_windows(len(cuts), max_windows=max_windows, seed=seed)
                is_sampled[row] = len(places) < len(cuts)
                for start, end in (cuts[place] for place in places):
                    owners.append(row)
                    spans.append(tokens.find_span(start, end))
                    yield tokens.ids[start:end].copy()

        scores = self._score(cut_windows(), owners)
        grades = np.full((len(texts), len(BANDS)), np.nan, np.float32)
        starts, ends = np.full(len(texts), -1, np.int64), np.full(len(texts), -1, np.int64)
        for row, span, grade in zip(owners, spans, scores, strict=True):
            if np.isnan(grades[row, 0]) or grade[0] < grades[row, 0]:
                grades[row] = grade
                starts[row], ends[row] = span
        return HardestWindows(grades, starts, ends, is_sampled)

    def grade_published(self, texts: Sequence[str]) -> Grades:
        """Grades of each text as the published filter reads it: its first tokens, and blank text like any other.

        NaN where the text cannot be tokenised (lone surrogates).
        """
        rows: list[int] = []

        def cut_texts() -> Iterator[Ids]:
            for row, tokens in enumerate(self._tokenize_all(texts, max_tokens=self._room)):
                if tokens is not None:
                    rows.append(row)
                    yield tokens.ids[: self._room].copy()

        scores = self._score(cut_texts(), rows)
        grades = np.full((len(texts), len(BANDS)), np.nan, np.float32)
        grades[rows] = scores
        return grades

    def _tokenize_all(self, texts: Sequence[str], *, max_tokens: int | None = None) -> Iterator[_Tokens | None]:
        """`_tokenize` of each text; for a GPU, which one core cannot feed, by all cores."""
        if not isinstance(self._scorer, PoolScorer):
            yield from (self._tokenize(text, max_tokens=max_tokens) for text in texts)
            return
        parts = [texts[first : first + _TEXTS_AT_ONCE] for first in range(0, len(texts), _TEXTS_AT_ONCE)]
        for part, openings in zip(parts, _work_ahead(self._encode_openings, parts), strict=True):
            for text, opening in zip(part, openings, strict=True):
                yield self._tokenize(text, max_tokens=max_tokens, opening=opening)

    def _encode_openings(self, texts: Sequence[str]) -> list[Encoding]:
        """The first block of each text, by all cores; of a text that is no Unicode, of nothing."""
        openings = [text[slice(*next(_cut_blocks(text), (0, 0)))] if _is_encodable(text) else "" for text in texts]
        return self._tokenizer.encode_batch(openings, add_special_tokens=False)  # type: ignore[no-any-return, unused-ignore]

    def _tokenize(self, text: str, *, max_tokens: int | None = None, opening: Encoding | None = None) -> _Tokens | None:
        """At least the first `max_tokens` tokens, or all; None where the text is no Unicode. `opening`: its first block's."""
        if not _is_encodable(text):
            return None
        ids: list[Ids] = []
        blocks: list[_Block] = []
        count = 0
        for start, end in _cut_blocks(text):
            encoding = opening
            if encoding is None or start > 0:
                encoding = self._tokenizer.encode(text[start:end], add_special_tokens=False)
            ids.append(np.array(encoding.ids, np.int32))
            if len(ids[-1]):
                blocks.append(_Block(count, start, encoding))
            count += len(ids[-1])
            if max_tokens is not None and count >= max_tokens:
                break
        return _Tokens(np.concatenate([np.zeros(0, np.int32), *ids]), blocks)

    def _score(self, windows: Iterable[Ids], owners: Sequence[int]) -> Grades:
        """Probabilities of each window, float32 (n, 4). `owners`: the text of each, filled while the windows are read."""
        if not isinstance(self._scorer, PoolScorer):
            return self._score_batches(self._scorer, list(windows))
        whole = (np.concatenate([self._prefix, window, self._suffix]) for window in windows)
        pools: list[list[Ids]] = []
        # A thread keeps the GPU busy while this one goes on tokenising.
        with ThreadPoolExecutor(1) as feeder:
            scored = []
            size, most = _POOL_WINDOWS
            while pool := list(islice(whole, size)):
                size = min(2 * size, most)
                pools.append(pool)
                scored.append(feeder.submit(self._scorer.score_pool, pool))
            logits = [np.zeros((0, len(BANDS)), np.float32), *[scores.result() for scores in scored]]
        grades = _to_probabilities(np.concatenate(logits))
        places = _find_near(grades[:, 0], owners)
        if places:
            all_windows = [window for pool in pools for window in pool]
            grades[places] = _to_probabilities(self._scorer.score_alone([all_windows[place] for place in places]))
        return grades

    def _score_batches(self, scorer: Scorer, windows: Sequence[Ids]) -> Grades:
        """Windows of one padded length share batches of one fixed size."""
        grades = np.empty((len(windows), len(BANDS)), np.float32)
        by_length: dict[int, list[int]] = {}
        for place, window in enumerate(windows):
            by_length.setdefault(self._pad_length(len(window)), []).append(place)
        for length, places in sorted(by_length.items()):
            row_count = max(1, scorer.batch_tokens // length)
            for first in range(0, len(places), row_count):
                chosen = places[first : first + row_count]
                # The last window fills what is left of the batch: another batch size would be another shape.
                filled = [*chosen, *[chosen[-1]] * (row_count - len(chosen))]
                logits = scorer.score(*self._fill_batch([windows[place] for place in filled], length))
                grades[chosen] = _to_probabilities(logits[: len(chosen)])
        return grades

    def _pad_length(self, token_count: int) -> int:
        length = token_count + len(self._prefix) + len(self._suffix)
        return min(-(-length // _LENGTH_STEP) * _LENGTH_STEP, self.window_tokens)

    def _fill_batch(self, windows: Sequence[Ids], length: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        ids = np.full((len(windows), length), self._pad, np.int64)
        mask = np.zeros((len(windows), length), np.int64)
        for row, window in enumerate(windows):
            whole = np.concatenate([self._prefix, window, self._suffix])
            ids[row, : len(whole)] = whole
            mask[row, : len(whole)] = 1
        return ids, mask

    def _require_grades(self, model_file: Path) -> None:
        if isinstance(self._scorer, PoolScorer):
            logits = self._scorer.score_alone([np.concatenate([self._prefix, self._suffix])])
        else:
            logits = self._scorer.score(*self._fill_batch([np.zeros(0, np.int32)], self._pad_length(0)))
        if logits.shape != (1, len(BANDS)) or not np.isfinite(logits).all():
            raise ArtifactError(
                f"{model_file} answers with the shape {logits.shape}, not one finite number a band.",
                hint="A grade model gives logits of shape (batch, 4).",
            )


def _cut_tokens(token_count: int, room: int) -> list[tuple[int, int]]:
    starts = list(range(0, token_count, room))
    if len(starts) > 1 and token_count - starts[-1] < room // 4:
        starts[-1] = token_count - room
    return [(start, min(start + room, token_count)) for start in starts]


def _cut_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Consecutive stretches of the whole text that begin with white space where they can, so that no word is cut."""
    start = 0
    while start < len(text):
        end = min(start + _BLOCK_CHARS, len(text))
        if end < len(text):
            end = next((place for place in range(end, end - _SPACE_SEARCH_CHARS, -1) if text[place].isspace()), end)
        yield start, end
        start = end


def _work_ahead(work: Callable[[_T], _R], arguments: Iterable[_T]) -> Iterator[_R]:
    """`work` of each argument, the next already under way in a thread."""
    with ThreadPoolExecutor(1) as thread:
        waiting: deque[Future[_R]] = deque()
        for argument in arguments:
            waiting.append(thread.submit(work, argument))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _to_probabilities(logits: npt.NDArray[np.float32]) -> Grades:
    rows = []
    for row in logits.astype(np.float64).tolist():
        highest = max(row)
        # One by one: vectorised exponentials may round otherwise at the end of an array.
        powers = [math.exp(value - highest) for value in row]
        total = sum(powers)
        rows.append([power / total for power in powers])
    return np.array(rows, np.float32).reshape(-1, len(BANDS))


def _find_near(scores: npt.NDArray[np.float32], owners: Sequence[int]) -> list[int]:
    """The windows in EXACT_BAND of those texts whose lowest window is."""
    low, high = EXACT_BAND
    lowest = np.full(max(owners, default=-1) + 1, np.inf, np.float32)
    np.minimum.at(lowest, owners, scores)
    near = (low <= scores) & (scores < high) & (low <= lowest[owners])
    return [int(place) for place in np.flatnonzero(near)]


def _load_scorer(model_file: Path, device: str, window_tokens: int) -> Scorer | PoolScorer:
    # Imported here: each takes seconds to load, and most commands score nothing.
    if model_file.name == TORCH_MODEL:
        from curation.signals.encoder_torch import CudaScorer, TorchScorer

        if device == "cuda":
            return CudaScorer(model_file.parent, max_tokens=window_tokens)
        return TorchScorer(model_file.parent)
    from curation.signals.encoder_onnx import OnnxScorer

    return OnnxScorer(model_file, device)
