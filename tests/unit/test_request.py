"""What was asked for stays with the run: the same request is found, another one is refused by what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.errors import LedgerError
from curation.export.request import ControlMatch
from curation.lexicon.vocabulary import VocabularyVersion
from curation.profile import load_profile
from curation.request import REQUEST, ExportOptions, RunRequest, read_request, record_request


def make_request() -> RunRequest:
    return RunRequest(
        sources=("data", "hf://datasets/é/x"),
        config=None,
        split=None,
        artifacts=None,
        aoa=None,
        profile=load_profile("published"),
        vocabulary=VocabularyVersion(name="none", version=1, block=("photon",)),
        export=ExportOptions(
            shard_bytes=1000,
            shuffle_seed=None,
            token_budget=None,
            validation_share=0.1,
            control_match=ControlMatch.TOKENS_LENGTH,
            control_seed=1,
        ),
    )


def test_a_request_is_read_back_whole(tmp_path: Path) -> None:
    record_request(tmp_path, make_request())
    assert read_request(tmp_path) == make_request()
    before = (tmp_path / REQUEST).read_bytes()
    record_request(tmp_path, make_request())
    assert (tmp_path / REQUEST).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"sources": ("other",)}, "sources"),
        ({"config": "x", "split": "y"}, "config, split"),
        ({"vocabulary": VocabularyVersion(name="none", version=2, block=("photon",))}, "vocabulary"),
        ({"export": make_request().export.model_copy(update={"control_seed": 2})}, "export"),
        ({"profile": load_profile("published").model_copy(update={"version": 99})}, "profile"),
    ],
)
def test_another_request_is_refused_by_what_differs(tmp_path: Path, change: dict[str, object], named: str) -> None:
    record_request(tmp_path, make_request())
    with pytest.raises(LedgerError) as raised:
        record_request(tmp_path, make_request().model_copy(update=change))
    assert str(raised.value) == (
        f"{tmp_path} holds a run that was asked for otherwise ({named} differ). "
        "Choose another --out; to decide or export it anew use `primer decide` or `primer export`."
    )
    assert read_request(tmp_path) == make_request()


def test_no_request_says_so(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as raised:
        read_request(tmp_path)
    assert str(raised.value) == f"There is no run in {tmp_path}. Give the folder that `primer run --out` wrote."


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff"], ids=repr)
def test_a_torn_request_is_a_ledger_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / REQUEST).write_bytes(content)
    for read in (lambda: read_request(tmp_path), lambda: record_request(tmp_path, make_request())):
        with pytest.raises(LedgerError) as raised:
            read()
        assert str(raised.value).startswith(f"{tmp_path / REQUEST} cannot be read (")
        assert str(raised.value).endswith("Run the same command into a new folder.")
