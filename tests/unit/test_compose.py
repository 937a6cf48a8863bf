"""docker-compose.yml and the Dockerfile, read as text where no Docker engine runs: what they name exists, nothing runs as
root, nothing secret is written down, and what is installed is what the lock files say."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_runs import PRIMER
from compose_file import COMPOSE, CUDA, REPO, Service, fill_in, read_services, read_variables
from pydantic_settings import BaseSettings

from primer.app.core.settings import Settings
from primer.app.jobs.states import Queue

DOCKERFILE = REPO / "Dockerfile"
_SECRET = "a-password-of-the-test"
_OWN = ("migrate", "api", "worker-cpu", "worker-encoder")


def _read_instructions() -> list[tuple[str, str]]:
    """Instruction and arguments, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", DOCKERFILE.read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


INSTRUCTIONS = _read_instructions()


def _split_stages() -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """By name: what a stage begins from, and its instructions."""
    stages: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    for word, rest in INSTRUCTIONS:
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stages[name] = (base, [])
            current = stages[name][1]
        else:
            current.append((word, rest))
    return stages


STAGES = _split_stages()


def _list_lineage(stage: str) -> list[tuple[str, str]]:
    """A stage's instructions after those of what it begins from."""
    base, own = STAGES[stage]
    return [*(_list_lineage(base) if base in STAGES else []), *own]


def _is_in_context(path: str) -> bool:
    """Whether .dockerignore lets a path of the checkout through: the last line that matches decides."""
    is_in = True
    for line in (REPO / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!")
        parts = path.split("/")
        # A pattern covers what lies below what it matches; after **/ it is a name at any depth.
        parents = parts if pattern.startswith("**/") else ["/".join(parts[: count + 1]) for count in range(len(parts))]
        pattern = pattern.removeprefix("**/")
        if any(fnmatch.fnmatch(parent, pattern) for parent in parents):
            is_in = line.startswith("!")
    return is_in


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    return {service.name: service for service in read_services({"POSTGRES_PASSWORD": _SECRET})}


def test_every_file_that_is_copied_exists_and_is_in_the_context() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=REPO, capture_output=True, text=True, check=True).stdout.split()
    sources = []
    for word, rest in INSTRUCTIONS:
        if word == "COPY" and "--from=" not in rest:
            sources += rest.split()[:-1]
    assert len(sources) >= 12
    for source in sources:
        path = source.rstrip("/")
        assert (REPO / path).exists(), source
        assert _is_in_context(path), source
        assert any(name == path or name.startswith(f"{path}/") for name in tracked), source


def test_what_is_no_source_stays_out_of_the_context() -> None:
    for path in (".env", ".git", ".venv", "tests", "primer-data", "out", "frontend/node_modules", "app/__pycache__"):
        assert not _is_in_context(path), path


def test_the_wheel_can_be_built_from_what_is_copied_and_has_the_workbench(tmp_path: Path) -> None:
    context = tmp_path / "src"
    for word, rest in STAGES["build-cpu"][1]:
        if word == "COPY" and "--from=" not in rest:
            *sources, target = rest.split()
            for source in sources:
                _copy(REPO / source, context / target / (source if target == "./" else ""))
    [from_workbench] = [rest for word, rest in STAGES["build-cpu"][1] if word == "COPY" and "--from=workbench" in rest]
    built = context / from_workbench.split()[-1]
    built.mkdir(parents=True)
    (built / "index.html").write_text("the workbench")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=context,
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {"primer/cli/main.py", "primer/workbench/index.html", "primer/migrations/env.py"} <= names
    assert {name for name in names if name.startswith("curation/artifacts/bundled/encoder/model")}
    order = [rest for word, rest in STAGES["build-cpu"][1] if word in ("COPY", "RUN")]
    assert order.index(from_workbench) < max(index for index, rest in enumerate(order) if "uv sync" in rest)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def test_stages_that_are_copied_from_exist_and_come_first() -> None:
    seen: list[str] = []
    for word, rest in INSTRUCTIONS:
        if word == "FROM":
            seen.append(rest.partition(" AS ")[2])
        elif found := re.search(r"--from=(\S+)", rest):
            assert found[1] in seen[:-1]


def test_only_the_lock_files_say_what_is_installed() -> None:
    runs = [rest for word, rest in INSTRUCTIONS if word == "RUN"]
    syncs = [rest for rest in runs if "uv sync" in rest]
    assert len(syncs) == 3
    assert all("--locked" in rest and "--no-dev" in rest and "--extra postgres" in rest for rest in syncs)
    makefile = re.search(r"^UV_VERSION := (\S+)$", (REPO / "Makefile").read_text(), re.MULTILINE)
    assert makefile is not None
    assert [rest for rest in runs if "pip install" in rest] == [f"pip install --no-cache-dir uv=={makefile[1]}"]
    assert [rest for rest in runs if "npm" in rest] == ["npm ci", "npm run build"]


def test_extras_that_the_images_install_are_those_of_the_package() -> None:
    import tomllib

    extras = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set(re.findall(r"--extra (\S+)", DOCKERFILE.read_text()))
    assert named == {"postgres", "s3", "gpu"}
    assert named <= set(extras)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_no_image_runs_as_root(target: str) -> None:
    users = [rest for word, rest in _list_lineage(target) if word == "USER"]
    assert users == ["primer"]
    [made] = [rest for word, rest in _list_lineage(target) if word == "RUN" and "useradd" in rest]
    assert "--uid 10001" in made


def test_targets_of_the_compose_files_are_stages(services: dict[str, Service]) -> None:
    cuda = yaml.safe_load(CUDA.read_text())["services"]
    targets = {services[name].content["build"]["target"] for name in _OWN} | {
        entry["build"]["target"] for entry in cuda.values()
    }
    assert targets == {"cpu", "cuda"}
    assert targets <= set(STAGES)
    assert set(cuda) <= set(services)


def test_services_and_their_order(services: dict[str, Service]) -> None:
    assert set(services) == {"postgres", "redis", *_OWN}
    assert services["migrate"].depends_on == {"postgres": "service_healthy"}
    for name in ("api", "worker-cpu", "worker-encoder"):
        assert services[name].depends_on == {"migrate": "service_completed_successfully", "redis": "service_healthy"}
    order = list(services)
    assert order.index("postgres") < order.index("migrate") < min(order.index(name) for name in _OWN[1:])


def test_everything_that_goes_on_has_a_health_check(services: dict[str, Service]) -> None:
    for name, service in services.items():
        if name == "migrate":
            assert (service.health_command, service.content["restart"]) == (None, "no")
        else:
            assert service.health_command, name
            assert service.content["restart"] == "unless-stopped"


@pytest.mark.parametrize("name", _OWN)
def test_our_containers_have_few_rights(services: dict[str, Service], name: str) -> None:
    content = services[name].content
    assert content["user"] == "10001:10001"
    assert content["cap_drop"] == ["ALL"]
    assert content["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "network_mode", "pid", "cap_add"} & content.keys()
    assert services[name].volumes["/data"] == "data"


@pytest.mark.parametrize("name", _OWN)
def test_commands_exist_with_their_options(services: dict[str, Service], name: str) -> None:
    program, command, *options = services[name].command
    assert program == "primer"
    shown = subprocess.run(
        [*PRIMER, command, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "200", "PATH": ""}
    ).stdout
    for option in options:
        assert re.search(rf"{option.partition('=')[0]}\b", shown), option


def test_every_queue_has_a_worker(services: dict[str, Service]) -> None:
    served = [
        queue
        for name in ("worker-cpu", "worker-encoder")
        for option in services[name].command
        if option.startswith("--queues=")
        for queue in option.removeprefix("--queues=").split(",")
    ]
    assert sorted(served) == sorted(Queue)


def test_variables_are_settings(services: dict[str, Service]) -> None:
    assert issubclass(Settings, BaseSettings)
    known = {f"PRIMER_{name}".upper() for name in Settings.model_fields}
    named = {variable for name in _OWN for variable in services[name].environment}
    assert named <= known
    images = dict(item.split("=", 1) for word, rest in INSTRUCTIONS if word == "ENV" for item in rest.split())
    others = {"PRIMER_ENCODER_DEVICE"}
    assert {name for name in images if name.startswith("PRIMER_")} <= known | others


def test_no_secret_is_written_down() -> None:
    text = COMPOSE.read_text()
    assert re.findall(r"(?i)password: (.*)", text) == ["${POSTGRES_PASSWORD:?set it in .env}"]
    assert re.findall(r"://[^:/\s]+:([^/]*)@", text) == ["${POSTGRES_PASSWORD:?set it in .env}"]
    with pytest.raises(KeyError, match=r"POSTGRES_PASSWORD: set it in \.env"):
        read_services({})
    example = read_variables(REPO / ".env.example")
    assert example["POSTGRES_PASSWORD"] == ""
    ignored = subprocess.run(["git", "check-ignore", ".env"], cwd=REPO, check=False, capture_output=True)
    assert ignored.returncode == 0


def test_the_example_names_every_variable_of_the_compose_file() -> None:
    used = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE.read_text()))
    assert used == set(read_variables(REPO / ".env.example"))


def test_only_this_machine_reaches_the_api_and_nothing_else_is_published(services: dict[str, Service]) -> None:
    published = {name: service.content.get("ports", []) for name, service in services.items()}
    assert {name: ports for name, ports in published.items() if ports} == {"api": ["127.0.0.1:8642:8642"]}


def test_the_client_programs_of_the_image_are_of_the_server_s_version(services: dict[str, Service]) -> None:
    server = re.fullmatch(r"postgres:(\d+)-(\w+)", services["postgres"].content["image"])
    assert server is not None
    assert f"postgresql-client-{server[1]}" in DOCKERFILE.read_text()
    assert STAGES["runtime"][0] == f"python:3.11-slim-{server[2]}"


def test_variables_are_filled_in_as_compose_does() -> None:
    variables = {"NAME": "set", "EMPTY": ""}
    wanted: list[tuple[str, Any]] = [
        ("a ${NAME} b", "a set b"),
        ("${EMPTY:-other}", "other"),
        ("${MISSING:-}", ""),
        ("$$(find)", "$(find)"),
    ]
    assert [fill_in(text, variables) for text, _ in wanted] == [value for _, value in wanted]
    with pytest.raises(KeyError):
        fill_in("${EMPTY:?needed}", variables)
