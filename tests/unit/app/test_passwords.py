"""Passwords: hashed by argon2id, and never right for nobody."""

from __future__ import annotations

import pytest

from primer.app.auth.passwords import MAX_CHARS, Passwords, open_passwords, require_good
from primer.app.core.errors import Unprocessable
from primer.app.core.settings import Settings


@pytest.fixture(scope="module")
def cheap() -> Passwords:
    return Passwords(memory_kib=8, rounds=1)


def test_only_the_password_is_right(cheap: Passwords) -> None:
    kept = cheap.hash("four words nobody expects")
    assert kept.startswith("$argon2id$v=19$m=8,t=1,p=1$")
    assert cheap.verify(kept, "four words nobody expects")
    assert not cheap.verify(kept, "four words nobody expects ")
    assert not cheap.verify(kept, "")
    assert not cheap.verify("not a hash", "four words nobody expects")
    assert cheap.hash("four words nobody expects") != kept


def test_nobody_has_no_password(cheap: Passwords) -> None:
    assert not cheap.verify(None, "")
    assert not cheap.verify(None, "four words nobody expects")


def test_a_password_longer_than_any_is_not_its_beginning(cheap: Passwords) -> None:
    longest = "x" * MAX_CHARS
    kept = cheap.hash(longest)
    assert cheap.verify(kept, longest)
    assert not cheap.verify(kept, longest + "x")
    assert not cheap.verify(kept, longest + "x" * 100_000)


def test_a_hash_of_another_cost_is_outdated(cheap: Passwords) -> None:
    assert not cheap.is_outdated(cheap.hash("four words nobody expects"))
    assert Passwords(memory_kib=16, rounds=1).is_outdated(cheap.hash("four words nobody expects"))


def test_the_default_cost_is_that_of_rfc_9106() -> None:
    assert open_passwords(Settings()).hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=1$")


@pytest.mark.parametrize(
    ("password", "message"),
    [
        ("short", "A password has 12 to 1,000 characters; this one has 5."),
        ("x" * 10_000, "A password has 12 to 1,000 characters; this one has 10,000."),
        ("Benjamin.Lee", "The password is hardly more than the name."),
        ("benjamin.lee1", "The password is hardly more than the name."),
    ],
)
def test_poor_passwords_are_refused(password: str, message: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        require_good(password, user_name="benjamin.lee")
    assert refused.value.message == message
    assert password not in refused.value.message


def test_a_short_name_may_be_part_of_a_password() -> None:
    require_good("alabaster under water", user_name="al")
