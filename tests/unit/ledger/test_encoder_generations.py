"""Generations of the encoder's layer: later ones fill what is null, and change nothing that was committed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
from ledger_rows import write_run

from curation.ledger.encoder import list_encoder_layers, name_encoder_layer, read_encoder
from curation.ledger.schema import ENCODER_SCHEMA
from curation.run_folder import RunFolder

NAN = [math.nan] * 4
EASY, HARD = [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]


def write_generations(run: RunFolder, generations: list[list[dict[str, Any]]]) -> str:
    [ref] = run.ledger.slices()
    for number, rows in enumerate(generations, 1):
        table = pa.Table.from_pylist([{"row": row, **values} for row, values in enumerate(rows)], ENCODER_SCHEMA)
        assert run.ledger.commit(name_encoder_layer(number), ref.id, table)
    return ref.id


def test_names_count_from_one() -> None:
    assert [name_encoder_layer(number) for number in (1, 2, 10)] == ["encoder", "encoder-2", "encoder-10"]


def test_without_a_generation_there_is_nothing_to_read(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": [[{}]]})
    slice_id = write_generations(run, [])
    assert list_encoder_layers(run.ledger, slice_id) == []
    assert read_encoder(run.ledger, slice_id) is None


def test_later_generations_fill_what_is_null_and_nothing_else(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": [[{}] * 4]})
    first = [{"window": EASY, "window_start": 0, "window_end": 3, "is_sampled": True}, {"window": NAN}, {}, {}]
    other = {"window": HARD, "window_start": 5, "window_end": 9, "is_sampled": False}
    second = [{**other, "published": HARD}, {**other, "published": EASY}, other, {}]
    slice_id = write_generations(run, [first, second, [{"published": EASY}, {}, {}, {"window": EASY}]])
    assert list_encoder_layers(run.ledger, slice_id) == ["encoder", "encoder-2", "encoder-3"]
    merged = read_encoder(run.ledger, slice_id)
    assert merged is not None
    assert merged.schema.equals(ENCODER_SCHEMA)
    rows = merged.to_pylist()
    assert rows[0] == {"row": 0, **first[0], "published": HARD}
    assert repr(rows[1]["window"]) == repr(NAN)  # measured, and nothing could be read: not null
    assert (rows[1]["window_start"], rows[1]["window_end"], rows[1]["is_sampled"]) == (None, None, None)
    assert rows[1]["published"] == EASY
    assert rows[2] == {"row": 2, **other, "published": None}
    assert rows[3] == {
        "row": 3, "window": EASY, "window_start": None, "window_end": None, "is_sampled": None, "published": None,
    }  # fmt: skip


def test_a_generation_is_read_only_after_those_before_it(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": [[{}]]})
    slice_id = write_generations(run, [[{"window": EASY}], [{"published": EASY}]])
    (run.ledger.folder / "commits" / "encoder" / f"{slice_id}.json").unlink()
    assert list_encoder_layers(run.ledger, slice_id) == []
    assert read_encoder(run.ledger, slice_id) is None


def test_sweeping_keeps_every_generation(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a": [[{}]]})
    slice_id = write_generations(run, [[{"window": EASY}], [{"published": EASY}]])
    assert run.ledger.sweep() == 0
    assert list_encoder_layers(run.ledger, slice_id) == ["encoder", "encoder-2"]
