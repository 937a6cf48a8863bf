"""Source rules: what must not be kept of a source, whatever it reads like, because somebody asked for its removal.

A document that a rule matches is excluded, and no override brings it back. Documents without a URL or licence match no
rule about it. Pure: nothing is read here but the file of `read_source_rules`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from curation.errors import ProfileError
from curation.recipe import hash_json
from curation.web_address import HOST_PATTERN, normalize_host, read_address

RuleKind = Literal["domain", "url_prefix", "licence"]


class SourceRule(BaseModel):
    """`domain`: the host and every host below it; `url_prefix`: addresses that begin so, by scheme, host and path;
    `licence`: the value of the source's column `license` or `licence`. `value` is kept in its normal spelling."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: RuleKind
    value: str = Field(min_length=1, max_length=2000)

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, given: Any) -> Any:
        if not isinstance(given, dict) or not isinstance(given.get("value"), str):
            return given
        return {**given, "value": _NORMALIZE.get(given.get("kind", ""), str)(given["value"])}


def _normalize_domain(value: str) -> str:
    host = normalize_host(value.strip().removeprefix("*.").removeprefix("."))
    if not host or any(character in host for character in "/:@?#* \\"):
        raise ValueError("a domain is a host name such as example.org, without scheme, port or path")
    return host


def _normalize_url_prefix(value: str) -> str:
    address = read_address(value)
    if not address.scheme or not address.host:
        raise ValueError("a URL prefix begins with a scheme and a host, such as https://example.org/blog/")
    return str(address)


def _normalize_licence(value: str) -> str:
    if not value.strip():
        raise ValueError("a licence is the text that the source's column holds, such as cc-by-nc-4.0")
    return _fold(value)


_NORMALIZE = {"domain": _normalize_domain, "url_prefix": _normalize_url_prefix, "licence": _normalize_licence}
_RULES = TypeAdapter(tuple[SourceRule, ...])


def _fold(licence: str) -> str:
    return " ".join(licence.split()).casefold()


def match_rules(rules: Sequence[SourceRule], urls: pa.Array, licences: pa.Array | None) -> npt.NDArray[np.bool_]:
    """Which rows any rule matches. `urls` and `licences`: strings, null where a row has none; `licences` None: nobody knows."""
    by_kind: dict[str, list[str]] = {kind: [] for kind in _NORMALIZE}
    for rule in rules:
        by_kind[rule.kind].append(rule.value)
    matched = np.zeros(len(urls), bool)
    if by_kind["domain"] or by_kind["url_prefix"]:
        matched |= _match_urls(by_kind["domain"], by_kind["url_prefix"], urls)
    if by_kind["licence"] and licences is not None:
        wanted = set(by_kind["licence"])
        matched |= _match_distinct(licences, lambda licence: _fold(licence) in wanted)
    return matched


def _match_urls(domains: Sequence[str], prefixes: Sequence[str], urls: pa.Array) -> npt.NDArray[np.bool_]:
    hosts = pc.struct_field(pc.extract_regex(urls.cast(pa.string()), HOST_PATTERN), "host")
    blocked = set(domains)
    matched = _match_distinct(hosts, lambda host: not blocked.isdisjoint(_list_parents(normalize_host(host))))
    if prefixes:
        prefix_hosts = {read_address(prefix).host for prefix in prefixes}
        # Only addresses of these hosts are taken apart one by one.
        candidates = np.flatnonzero(
            ~matched & _match_distinct(hosts, lambda host: normalize_host(host) in prefix_hosts)
        )
        for place in candidates.tolist():
            matched[place] = str(read_address(urls[place].as_py())).startswith(tuple(prefixes))
    return matched


def _list_parents(host: str) -> list[str]:
    """The host and the domains above it."""
    labels = host.split(".")
    return [".".join(labels[index:]) for index in range(len(labels))]


def _match_distinct(values: pa.Array, is_match: Any) -> npt.NDArray[np.bool_]:
    """Ask once for every distinct value; null matches nothing."""
    encoded = values.dictionary_encode()
    answers = pa.array([is_match(value) for value in encoded.dictionary.to_pylist()], pa.bool_())
    found: npt.NDArray[np.bool_] = answers.take(encoded.indices).fill_null(False).to_numpy(zero_copy_only=False)
    return found


def has_licence_rule(rules: Sequence[SourceRule]) -> bool:
    return any(rule.kind == "licence" for rule in rules)


def describe_rules(rules: Sequence[SourceRule]) -> dict[str, object] | None:
    """How many rules, and the hash that equal sets of rules share; None where there are none."""
    distinct = sorted({(rule.kind, rule.value) for rule in rules})
    return {"count": len(distinct), "sha256": hash_json(distinct)} if distinct else None


def read_source_rules(path: Path) -> tuple[SourceRule, ...]:
    """A YAML list of `{kind, value}`. Raises ProfileError that says which entry is wrong and why."""
    try:
        return _RULES.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the rules"
        raise ProfileError(
            f"{path}: {place}: {first['msg']}.", hint="Write a list of `{kind: domain, value: example.org}`."
        ) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ProfileError(f"{path}: cannot be read as YAML ({error}).") from error
