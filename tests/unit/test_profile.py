"""Profiles: what each mistake is answered with, what they bind, and that their hash is of what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.errors import ProfileError
from curation.profile import (
    Profile,
    bind_profile,
    list_profiles,
    load_profile,
    profiles_folder,
    read_profile,
)
from curation.recipe import Recipe
from curation.stages import STAGES, FastTextStage

HEAD = "name: mine\nversion: 1\nform: raw\n"
LEXICAL = "lexical: {max_p95_aoa: 12, max_oov_ratio: 0.05}\n"
SAMPLING = "vocabulary: {mode: sample, min_score: 4, sampling: "
ONE_OR_LESS = "Input should be less than or equal to 1."
NOT_NEGATIVE = "Input should be greater than or equal to 0."
FINITE = "Input should be a finite number."
UNKNOWN_FIELD = "Extra inputs are not permitted."
MISSING = "Field required."
NO_MAPPING = "the profile: Input should be a valid dictionary or instance of Profile."
MODES = "vocabulary: Value error, mode sample needs sampling, mode block must not have it."

MISTAKES = {
    "": NO_MAPPING,
    "- 1\n": NO_MAPPING,
    "just words\n": NO_MAPPING,
    HEAD: "the profile: Value error, a profile needs at least one stage.",
    HEAD + "lexical: null\n": "the profile: Value error, a profile needs at least one stage.",
    HEAD + LEXICAL + "colour: red\n": f"colour: {UNKNOWN_FIELD}",
    "version: 1\nform: raw\n" + LEXICAL: f"name: {MISSING}",
    "name: mine\nform: raw\n" + LEXICAL: f"version: {MISSING}",
    "name: mine\nversion: 1\n" + LEXICAL: f"form: {MISSING}",
    "name: My own\nversion: 1\nform: raw\n" + LEXICAL: "name: String should match pattern '^[a-z0-9][a-z0-9_-]*$'.",
    "name: mine\nversion: 0\nform: raw\n" + LEXICAL: "version: Input should be greater than or equal to 1.",
    "name: mine\nversion: 1\nform: both\n" + LEXICAL: "form: Input should be 'raw' or 'normalized'.",
    HEAD + "lexical: {max_p95_aoa: 12}\n": f"lexical.max_oov_ratio: {MISSING}",
    HEAD + "lexical: {max_oov_ratio: 0.05}\n": f"lexical.max_p95_aoa: {MISSING}",
    HEAD + "lexical: {max_p95_aoa: 0, max_oov_ratio: 0}\n": "lexical.max_p95_aoa: Input should be greater than 0.",
    HEAD + "lexical: {max_p95_aoa: .nan, max_oov_ratio: 0}\n": f"lexical.max_p95_aoa: {FINITE}",
    HEAD + "lexical: {max_p95_aoa: .inf, max_oov_ratio: 0}\n": f"lexical.max_p95_aoa: {FINITE}",
    HEAD + "lexical: {max_p95_aoa: 12, max_oov_ratio: 1.01}\n": f"lexical.max_oov_ratio: {ONE_OR_LESS}",
    HEAD + "lexical: {max_p95_aoa: 12, max_oov_ratio: -0.01}\n": f"lexical.max_oov_ratio: {NOT_NEGATIVE}",
    HEAD + "lexical: {max_p95_aoa: 12, max_oov_ratio: 0, min: 1}\n": f"lexical.min: {UNKNOWN_FIELD}",
    HEAD + "fasttext: {}\n": "fasttext: Value error, needs top_band, min_k5_document or min_k5_window.",
    HEAD + "fasttext: {top_band: raw}\n": "fasttext.top_band: Input should be 'published', 'document' or 'window'.",
    HEAD + "fasttext: {min_k5_document: 1.5}\n": f"fasttext.min_k5_document: {ONE_OR_LESS}",
    HEAD + "fasttext: {min_k5_window: -1}\n": f"fasttext.min_k5_window: {NOT_NEGATIVE}",
    HEAD + "fasttext: {min_k5_window: .nan}\n": f"fasttext.min_k5_window: {FINITE}",
    HEAD + "encoder: {}\n": "encoder: Value error, needs top_band or min_k5_window.",
    HEAD + "encoder: {top_band: document}\n": "encoder.top_band: Input should be 'published' or 'window'.",
    HEAD + "encoder: {top_band: published, min_k5_window: 0.5}\n": "encoder: Value error, reads either the published "
    "reading or the hardest window, not both.",
    HEAD + "encoder: {min_k5_window: 2}\n": f"encoder.min_k5_window: {ONE_OR_LESS}",
    HEAD + "encoder: {min_k5_window: -0.1}\n": f"encoder.min_k5_window: {NOT_NEGATIVE}",
    HEAD + "notation: {}\n": f"notation.rules: {MISSING}",
    HEAD + "notation: {rules: mine}\n": "notation.rules: Input should be 'published' or 'recommended'.",
    HEAD + "notation: {rules: published, ignore: [1]}\n": "notation.ignore.0: Input should be a valid string.",
    HEAD + "vocabulary: {min_score: 4}\n": f"vocabulary.mode: {MISSING}",
    HEAD + "vocabulary: {mode: block}\n": f"vocabulary.min_score: {MISSING}",
    HEAD + "vocabulary: {mode: hard, min_score: 4}\n": "vocabulary.mode: Input should be 'block' or 'sample'.",
    HEAD + "vocabulary: {mode: sample, min_score: 4}\n": MODES,
    HEAD + "vocabulary: {mode: block, min_score: 4, sampling: {halving: 1, seed: 1}}\n": MODES,
    HEAD + SAMPLING + "{halving: 0, seed: 1}}\n": "vocabulary.sampling.halving: Input should be greater than 0.",
    HEAD + SAMPLING + "{halving: .inf, seed: 1}}\n": f"vocabulary.sampling.halving: {FINITE}",
    HEAD + SAMPLING + "{halving: 1}}\n": f"vocabulary.sampling.seed: {MISSING}",
    HEAD + "vocabulary: {mode: block, min_score: .nan}\n": f"vocabulary.min_score: {FINITE}",
    HEAD + "vocabulary: {mode: block, min_score: 4, max_terms: -1}\n": f"vocabulary.max_terms: {NOT_NEGATIVE}",
    HEAD
    + "vocabulary: {mode: block, min_score: 4, max_terms: 1.5}\n": "vocabulary.max_terms: Input should be a valid integer, "
    "got a number with a fractional part.",
    HEAD + "vocabulary: {mode: block, min_score: 4, max_terms_per_1000: -1}\n": "vocabulary.max_terms_per_1000: "
    f"{NOT_NEGATIVE}",
    HEAD
    + LEXICAL
    + "models: {word2vec: x}\n": "models.word2vec.[key]: Input should be 'aoa', 'vocabulary', 'fasttext' or 'encoder'.",
    HEAD
    + LEXICAL
    + "optional: [lexicon]\n": "optional.0: Input should be 'lexical', 'fasttext', 'encoder', 'notation' or "
    "'vocabulary'.",
    # What looks like a date and is none is a ValueError of the YAML reader.
    "name: mine\nversion: 2024-13-45\nform: raw\n" + LEXICAL: "cannot be read as YAML (month must be in 1..12).",
}


@pytest.mark.parametrize("content", MISTAKES)
def test_a_mistake_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ProfileError) as caught:
        read_profile(path)
    assert str(caught.value) == f"{path}: {MISTAKES[content]}"


@pytest.mark.parametrize("content", [b"name: \xff\n", b"name: {\n", b"a: *b\n", b"!!python/object:os.system x\n"])
def test_what_is_no_yaml_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "profile.yaml"
    path.write_bytes(content)
    with pytest.raises(ProfileError) as caught:
        read_profile(path)
    assert str(caught.value).startswith(f"{path}: cannot be read as YAML (")


def test_a_folder_is_no_profile(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read as YAML"):
        read_profile(tmp_path)


def make_profile(**fields: Any) -> Profile:
    stages = {"lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}} if not fields.keys() & set(STAGES) else {}
    return Profile.model_validate({"name": "mine", "version": 1, "form": "raw", **stages, **fields})


def make_recipe(**artifacts: str) -> Recipe:
    return Recipe(artifacts=artifacts, frequencies="none")


FASTTEXT = {"top_band": "document"}


def test_stages_come_in_published_order_however_they_are_written() -> None:
    profile = make_profile(
        vocabulary={"mode": "block", "min_score": 4},
        notation={"rules": "published"},
        fasttext=FASTTEXT,
        lexical={"max_p95_aoa": 12, "max_oov_ratio": 0.05},
    )
    assert profile.stages == ("lexical", "fasttext", "notation", "vocabulary")


@pytest.mark.parametrize(
    ("stage", "reading"),
    [
        ({"top_band": "published", "min_k5_window": 0.5}, "published"),
        ({"min_k5_document": 0.5, "min_k5_window": 0.5}, "window"),
        ({"min_k5_document": 0.5}, "document"),
    ],
)
def test_the_reading_that_is_shown(stage: dict[str, Any], reading: str) -> None:
    assert FastTextStage.model_validate(stage).reads == reading


def test_models_left_out_are_bound_to_what_was_measured() -> None:
    bound = bind_profile(make_profile(fasttext=FASTTEXT), make_recipe(fasttext="f" * 64, aoa="a" * 64))
    assert bound.models == {"fasttext": "f" * 64}  # of the artefacts that its stages read, no others
    assert bound.left_out == ()
    assert bound.stages == ("fasttext",)


def test_another_model_is_refused() -> None:
    profile = make_profile(fasttext=FASTTEXT, models={"fasttext": "0123456789abcdef" * 4})
    assert bind_profile(profile, make_recipe(fasttext="0123456789abcdef" * 4)).models == {
        "fasttext": "0123456789abcdef" * 4
    }
    with pytest.raises(ProfileError) as caught:
        bind_profile(profile, make_recipe(fasttext="f" * 64))
    assert str(caught.value) == (
        "Profile mine v1 binds fasttext 0123456789ab, but the run measured with ffffffffffff. "
        "Its thresholds belong to that artefact: choose a profile for this one, or write one."
    )


def test_another_model_is_refused_for_an_optional_stage_too() -> None:
    profile = make_profile(fasttext=FASTTEXT, models={"fasttext": "0" * 64}, optional=["fasttext"])
    with pytest.raises(ProfileError, match="binds fasttext 000000000000"):
        bind_profile(profile, make_recipe(fasttext="f" * 64))


def test_a_model_of_a_stage_that_does_not_take_part_binds_nothing() -> None:
    bound = bind_profile(make_profile(models={"fasttext": "0" * 64}), make_recipe(fasttext="f" * 64, aoa="a" * 64))
    assert bound.models == {"aoa": "a" * 64}


def test_an_optional_stage_is_left_out_where_its_model_is_missing() -> None:
    profile = make_profile(fasttext=FASTTEXT, notation={"rules": "published"}, optional=["fasttext"])
    without = bind_profile(profile, make_recipe())
    assert without.left_out == ("fasttext",)
    assert without.stages == ("notation",)
    measured = bind_profile(profile, make_recipe(fasttext="f" * 64))
    assert measured.left_out == ()
    assert measured.stages == ("fasttext", "notation")
    assert without.sha256 != measured.sha256


def test_a_stage_that_is_not_optional_stays_and_waits_for_its_model() -> None:
    profile = make_profile(encoder={"min_k5_window": 0.5}, models={"encoder": "e" * 64})
    bound = bind_profile(profile, make_recipe())
    assert bound.stages == ("encoder",)
    assert bound.models == {"encoder": "e" * 64}


def test_nothing_left_to_decide_with_is_refused() -> None:
    profile = make_profile(fasttext=FASTTEXT, encoder={"min_k5_window": 0.5}, optional=["fasttext", "encoder"])
    with pytest.raises(ProfileError) as caught:
        bind_profile(profile, make_recipe())
    assert str(caught.value) == ("Profile mine: the run has none of the models it needs. See `primer artifacts list`.")


def test_the_hash_is_of_what_is_said_and_not_of_how(tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text(
        "name: mine\nversion: 1\nform: raw\nlexical: {max_p95_aoa: 12, max_oov_ratio: 0.05}\n"
        "notation:\n  rules: published\n  ignore: ['1', '16']\nmodels: {aoa: aa, vocabulary: bb}\n",
        encoding="utf-8",
    )
    second.write_text(
        "# the same\nmodels: {vocabulary: bb, aoa: aa}\nencoder: null\n"
        "notation: {ignore: ['1', '16'], rules: published}\n"
        "lexical: {max_oov_ratio: 5.0e-2, max_p95_aoa: 12.0}\nform: raw\nversion: 1\nname: mine\n",
        encoding="utf-8",
    )
    recipes = make_recipe(aoa="aa", fasttext="ff"), make_recipe(fasttext="ff", aoa="aa")
    hashes = {bind_profile(read_profile(path), recipe).sha256 for path in (first, second) for recipe in recipes}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"form": "normalized"},
        {"lexical": {"max_p95_aoa": 12.5, "max_oov_ratio": 0.05}},
        {"lexical": {"max_p95_aoa": 12.0, "max_oov_ratio": 0.05}, "notation": {"rules": "published"}},
        {"optional": ["notation"]},
    ],
)
def test_any_change_is_another_hash(change: dict[str, Any]) -> None:
    recipe = make_recipe(aoa="a" * 64)
    assert bind_profile(make_profile(**change), recipe).sha256 != bind_profile(make_profile(), recipe).sha256


def test_other_models_are_another_hash() -> None:
    profile = make_profile()
    hashes = {bind_profile(profile, make_recipe(aoa=aoa)).sha256 for aoa in ("a" * 64, "b" * 64)}
    assert len(hashes) == 2


def test_the_hash_outlives_releases() -> None:
    """Manifests of exports hold it: a change here orphans them."""
    pinned = "81572eb0b96cf248492e7e56e64e7f24f1c9d35620f219bbe4b0a0ae0aaa2a81"
    assert bind_profile(make_profile(), make_recipe(aoa="a" * 64)).sha256 == pinned


def test_a_bundled_profile_loads_by_its_name() -> None:
    profile = load_profile("published")
    assert profile == read_profile(profiles_folder() / "published.yaml")
    assert profile.name == "published"
    assert profile.form == "raw"
    assert profile.stages == ("lexical", "fasttext", "encoder", "notation", "vocabulary")


def test_every_bundled_profile_is_named_as_its_file() -> None:
    files = sorted(path.stem for path in profiles_folder().glob("*.yaml"))
    assert files == ["published", "recommended"]
    assert [profile.name for profile in list_profiles()] == files


def test_a_profile_loads_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(HEAD + LEXICAL, encoding="utf-8")
    assert load_profile(str(path)) == make_profile()


def test_a_bundled_name_wins_over_a_file_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("published").write_text(HEAD + LEXICAL, encoding="utf-8")
    assert load_profile("published").name == "published"
    assert load_profile("./published").name == "mine"


@pytest.mark.parametrize("name", ["nothing", "nothing.yaml", "", "../profiles/published", "."])
def test_a_missing_profile_names_the_bundled_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProfileError) as caught:
        load_profile(name)
    assert str(caught.value) == (f"There is no profile {name!r}. Bundled: published, recommended. Or give a YAML file.")
