"""Source rules: which spellings of an address a rule meets and which it must not, and that no override undoes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from ledger_rows import write_run
from pydantic import ValidationError
from signal_rows import make_bound, make_signals

from curation.decide import EXCLUDE, KEEP, REASONS, decide, name_reasons
from curation.errors import LedgerError, ProfileError
from curation.ledger.signals import decide_ledger
from curation.source_rules import SourceRule, describe_rules, match_rules, read_source_rules


def rule(kind: Any, value: str) -> SourceRule:
    return SourceRule(kind=kind, value=value)


def matched(given: SourceRule, *values: str | None) -> list[str | None]:
    """Those of `values` (licences for a rule about them, else URLs) that the rule matches."""
    array = pa.array(values, pa.string())
    nothing = pa.nulls(len(values), pa.string())
    is_licence = given.kind == "licence"
    found = match_rules([given], nothing if is_licence else array, array if is_licence else None)
    return [value for value, is_hit in zip(values, found.tolist(), strict=True) if is_hit]


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/page",
        "http://EXAMPLE.org",
        "https://www.Example.Org:8443/?q=1",
        "https://a.b.example.org./x#y",
        "https://user:secret@example.org/",
        "https://harmless.net@example.org/",
        "https://ex%61mple.org/",
        "//example.org/x",
        "example.org/x",
        "https:\\\\example.org\\x",
        "ftp://example.org/f",
        "https://example\uff0eorg/",
        "  https://example.org/",
    ],
)
def test_a_domain_is_met_in_every_spelling(url: str) -> None:
    assert matched(rule("domain", "Example.ORG."), url) == [url]


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "https://notexample.org/",
        "https://example.org.evil.net/",
        "https://example.com/example.org",
        "https://example.com/?u=https://example.org/",
        "https://example.com/@example.org",
        "https://example.org@other.net/",
        "https://org/",
        "nonsense",
        "https://[::1]/example.org",
    ],
)
def test_a_domain_meets_no_other(url: str | None) -> None:
    assert matched(rule("domain", "example.org"), url) == []


def test_a_domain_is_the_same_in_unicode_and_in_punycode() -> None:
    urls = (
        "https://bücher.example/1",
        "https://xn--bcher-kva.example/2",
        "https://BÜCHER.example/3",
        "https://bucher.example/",
    )
    for value in ("bücher.example", "xn--bcher-kva.example", "*.BÜCHER.example"):
        assert rule("domain", value).value == "xn--bcher-kva.example"
        assert matched(rule("domain", value), *urls) == list(urls[:3])


def test_a_url_prefix_is_met_in_every_spelling() -> None:
    prefix = rule("url_prefix", "HTTPS://Example.org:443/a/../blog/")
    assert prefix.value == "https://example.org/blog/"
    hits = (
        "https://example.org/blog/",
        "https://example.org/blog/2024?x=1#y",
        "https://EXAMPLE.ORG:443/blog/x",
        "https://example.org/%62log/x",
        "https://example.org/x/%2e%2E/blog/",
        "https://user@example.org/./blog/é",
    )
    misses = (
        "http://example.org/blog/x",
        "https://example.org:444/blog/x",
        "https://www.example.org/blog/x",
        "https://example.org/blog",
        "https://example.org/blog/../x",
        "https://example.org/Blog/x",
        "https://example.org.net/blog/x",
        None,
    )
    assert matched(prefix, *hits, *misses) == list(hits)


def test_a_url_prefix_without_a_path_is_the_whole_host_and_no_other() -> None:
    assert matched(
        rule("url_prefix", "https://example.org"),
        "https://example.org",
        "https://example.org.net/",
        "https://example.org/a",
    ) == ["https://example.org", "https://example.org/a"]


def test_a_licence_is_met_whatever_its_case_and_spaces() -> None:
    given = ("cc-by-nc-4.0", " CC-BY-NC-4.0\n", "cc-by-4.0", None, "")
    assert matched(rule("licence", "CC-BY-NC-4.0"), *given) == list(given[:2])


def test_without_licences_a_licence_rule_matches_nothing() -> None:
    urls = pa.array(["https://a.example", None], pa.string())
    assert match_rules([rule("licence", "x")], urls, None).tolist() == [False, False]


def test_rules_are_joined_by_or_and_none_match_nothing() -> None:
    urls = pa.array(["https://a.example", "https://b.example/x", "https://c.example", None], pa.string())
    licences = pa.array(["mit", None, "x", "x"], pa.string())
    rules = [rule("domain", "a.example"), rule("url_prefix", "https://b.example/"), rule("licence", "X")]
    assert match_rules(rules, urls, licences).tolist() == [True, True, True, True]
    assert match_rules([], urls, licences).tolist() == [False] * 4
    assert match_rules(rules, pa.array([], pa.string()), pa.array([], pa.string())).tolist() == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("domain", ""),
        ("domain", "https://example.org"),
        ("domain", "example.org/x"),
        ("domain", "user@example.org"),
        ("domain", "*."),
        ("url_prefix", "example.org/x"),
        ("url_prefix", "https://"),
        ("licence", "  "),
        ("author", "x"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(kind: str, value: str) -> None:
    with pytest.raises(ValidationError):
        rule(kind, value)


def test_equal_rules_have_equal_hashes_whatever_their_order() -> None:
    some, other = rule("domain", "a.example"), rule("licence", "MIT")
    described = describe_rules([some, other])
    assert described is not None
    assert described["count"] == 2
    assert described == describe_rules([rule("licence", "mit"), rule("domain", "A.example."), some])
    assert described != describe_rules([some])
    assert describe_rules([]) is None


def test_rules_are_read_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("- {kind: domain, value: A.example}\n- kind: licence\n  value: MIT\n")
    assert read_source_rules(path) == (rule("domain", "a.example"), rule("licence", "mit"))
    path.write_text("- {kind: domain, value: a.example}\n- {kind: host, value: x}\n")
    with pytest.raises(
        ProfileError, match=r"rules\.yaml: 1\.kind: Input should be 'domain', 'url_prefix' or 'licence'"
    ):
        read_source_rules(path)
    for content in ("a: [", "- {kind: domain}", "x", "- {kind: domain, value: 3}"):
        path.write_text(content)
        with pytest.raises(ProfileError):
            read_source_rules(path)


def test_a_barred_row_is_excluded_whatever_else_is_said_of_it() -> None:
    bound = make_bound(notation={"rules": "published"}, fasttext={"top_band": "document"})
    good = {"grades": {"document": [1, 0, 0, 0]}}
    rows = [
        {"row": 0, **good},
        {"row": 1, **good},  # barred
        {"row": 2, **good, "rule_hits": 1},  # barred and failing
        {"row": 3, **good, "rule_hits": 1},  # barred, failing, a person keeps it
        {"row": 4, **good},  # barred, a person excludes it
        {"row": 5, "error": True},  # barred and unreadable
    ]
    is_barred = np.array([False, True, True, True, True, True])
    decisions = decide(make_signals(rows, ("document",)), bound, {3: True, 4: False}, is_barred)
    assert decisions.kept.tolist() == [KEEP, EXCLUDE, EXCLUDE, EXCLUDE, EXCLUDE, EXCLUDE]
    assert [None if by < 0 else REASONS[by] for by in decisions.decided_by.tolist()] == [
        None,
        "source_rule",
        "notation",
        "source_rule",
        "override",
        "error",
    ]
    assert [name_reasons(bits) for bits in decisions.failed.tolist()] == [
        [],
        ["source_rule"],
        ["notation", "source_rule"],
        ["notation", "source_rule"],
        ["override", "source_rule"],
        ["error"],
    ]


def test_a_barred_row_is_not_undecided() -> None:
    bound = make_bound(fasttext={"top_band": "document"})
    decisions = decide(make_signals([{}, {}]), bound, None, np.array([True, False]))
    assert [name_reasons(bits) for bits in decisions.unknown.tolist()] == [[], ["fasttext"]]
    assert decisions.kept.tolist() == [EXCLUDE, -1]


def test_a_licence_rule_over_a_ledger_without_licences_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"a.parquet": [[{"url": "https://a.example/"}]]})
    bound = make_bound(notation={"rules": "recommended"})
    with pytest.raises(LedgerError, match=r"A source rule names a licence, but no document of .*run states one"):
        next(decide_ledger(run.ledger, bound, {}, None, [rule("licence", "mit")]))
    [decided] = decide_ledger(run.ledger, bound, {}, None, [rule("domain", "a.example")])
    assert decided.decisions.kept.tolist() == [EXCLUDE]
