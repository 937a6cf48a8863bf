"""The key of an endpoint: from the environment alone, and in no repr, message or file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from curation.training.judge.problem import JudgeError

KEY_VARIABLES: Final = ("PRIMER_LABEL_API_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True)
class ApiKey:
    """`value` "" where no variable is set: local servers ask for none. `variable` names where it came from."""

    value: str = field(default="", repr=False)
    variable: str = ""


def read_api_key(environment: Mapping[str, str] | None = None) -> ApiKey:
    """The key of the first variable that is set. Raises JudgeError, without the key, when it cannot go into a header."""
    environment = os.environ if environment is None else environment
    for variable in KEY_VARIABLES:
        value = environment.get(variable, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise JudgeError(f"{variable} holds no API key.", hint="A key is one word of ASCII letters and signs.")
        return ApiKey(value, variable)
    return ApiKey()
