"""What a built wheel installs: the library and the programs under their own names, with all they need, and nothing bare."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import cli_runs


def test_the_wheel_installs_curation_and_primer_alone_and_runs(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=cli_runs.REPO,
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(site)
    installed = {name.split("/")[0] for name in names if ".dist-info" not in name.split("/")[0]}
    assert installed == {"curation", "primer"}
    for needed in (
        "primer/cli/main.py",
        "primer/app/__init__.py",
        "primer/workers/__init__.py",
        "curation/profiles/recommended.yaml",
        "curation/artifacts/bundled/encoder/model.onnx",
        "curation/sample/shards/sample-00000.parquet",
        "curation/training/judge/prompts/long_rubric.md",
    ):
        assert needed in names
    is_built = (cli_runs.REPO / "frontend" / "dist" / "index.html").is_file()
    assert ("primer/workbench/index.html" in names) == is_built
    listed = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            "import curation, primer.cli.main; print(curation.__file__); primer.cli.main.main()",
            "--version",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(site)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert listed[0] == str(site / "curation" / "__init__.py")
    assert listed[1].startswith("primer 0.1.0")
