"""What a version holds: a profile, read from what people send, written as YAML, compared with another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from curation.profile import Profile, list_profiles
from curation.recipe import hash_json
from primer.app.core.errors import NotFound, Unprocessable

_NAMED_ERRORS = 5


@dataclass(frozen=True)
class Difference:
    """One place where two profiles differ, such as `lexical.max_p95_aoa`; None where a profile has nothing there."""

    path: str
    before: Any
    after: Any


def read_profile(content: Any, *, name: str, version: int) -> Profile:
    """`content` as a profile of that name and version, whatever it says of them. Raises Unprocessable that names the fields."""
    if not isinstance(content, dict):
        raise Unprocessable("A profile is a mapping of fields.", hint="See GET /api/v1/profiles for examples.")
    try:
        return Profile.model_validate({**content, "name": name, "version": version})
    except ValidationError as error:
        found = [
            f"{'.'.join(map(str, entry['loc'])) or 'the profile'}: {entry['msg']}"
            for entry in error.errors(include_input=False)
        ]
        more = f" ({len(found) - _NAMED_ERRORS} more)" if len(found) > _NAMED_ERRORS else ""
        raise Unprocessable("; ".join(found[:_NAMED_ERRORS]) + more, hint="Correct these fields.") from error


def parse_yaml(text: str) -> Any:
    """Raises Unprocessable for what is no YAML."""
    try:
        return yaml.safe_load(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" (line {place.line + 1})" if place is not None else ""
        raise Unprocessable(f"The text is no YAML{where}.", hint="Send what `primer profiles show` prints.") from error


def find_bundled(name: str) -> Profile:
    """Raises NotFound that lists what comes with the library."""
    bundled = {profile.name: profile for profile in list_profiles()}
    if name not in bundled:
        raise NotFound(f"No profile {name!a} comes with the library.", hint=f"There are {', '.join(bundled)}.")
    return bundled[name]


def describe(profile: Profile) -> dict[str, Any]:
    """As JSON, which a version keeps."""
    return profile.model_dump(mode="json")


def hash_content(content: dict[str, Any]) -> str:
    return hash_json(content)


def write_yaml(content: dict[str, Any]) -> str:
    """A file that `primer run --profile` takes."""
    return str(yaml.safe_dump(_arrange(content), sort_keys=False, allow_unicode=True, width=1000))


def compare(before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """In the order of the fields; whole lists are one place."""
    return list(_compare(_arrange(before), _arrange(after), ""))


def _arrange(content: dict[str, Any]) -> dict[str, Any]:
    """Fields in the order of `Profile`, what they hold by name: databases forget how JSON was ordered."""
    fields = list(Profile.model_fields)
    known = {name: _sort(content[name]) for name in fields if name in content}
    return known | {name: _sort(content[name]) for name in sorted(content) if name not in known}


def _sort(value: Any) -> Any:
    return {name: _sort(value[name]) for name in sorted(value)} if isinstance(value, dict) else value


def _compare(before: Any, after: Any, path: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _compare(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif before != after:
        yield Difference(path, before, after)
