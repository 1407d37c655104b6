"""Wheel and sdist, built, and used away from the checkout."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from rescheduler import __version__
from rescheduler.policy.shipped import shipped_policies
from tests.paths import ROOT

CARRIED = {
    "docs/policy.schema.json", "docs/plan.schema.json", "docs/examples/small.json", "docs/examples/chain.yaml",
    "docs/examples/infeasible.json", "docs/examples/kube-scheduler.yaml",
    *(f"policies/{name}.yaml" for name in shipped_policies()),
}  # fmt: skip


class Built(NamedTuple):
    """A wheel of the checkout, the sdist, a wheel of the sdist, and the first one unpacked as an installer does it."""

    wheel: Path
    sdist: Path
    wheel_of_sdist: Path
    site: Path


def build(source: Path, target: Path, *kinds: str) -> None:
    """Without isolation, so that no network is needed."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *kinds]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Each built once."""
    pytest.importorskip("hatchling", reason="hatchling comes with the dependency group test")
    folder = tmp_path_factory.mktemp("distribution")
    build(ROOT, folder / "first")
    [wheel], [sdist] = (list((folder / "first").glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "sources", filter="data")
    [sources] = (folder / "sources").iterdir()
    build(sources, folder / "second", "-t", "wheel")
    [again] = (folder / "second").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return Built(wheel, sdist, again, folder / "site")


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def run(built: Built, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command where no checkout is."""
    environment = {**os.environ, "PYTHONPATH": str(built.site), "XDG_STATE_HOME": str(folder)}
    command = [sys.executable, "-P", "-m", "rescheduler", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_the_distribution_is_kube_rescheduler_and_says_what_it_is(built: Built) -> None:
    """Name, version, licence with its text, addresses; the import stays rescheduler."""
    files = contents(built.wheel)
    [place] = [name for name in files if name.endswith(".dist-info/METADATA")]
    about = email.message_from_bytes(files[place])
    assert (about["Name"], about["Version"]) == ("kube-rescheduler", __version__)
    assert about["License-Expression"] == "Apache-2.0"
    assert any(name.endswith("/licenses/LICENSE") for name in files)
    assert {url.split(",")[0] for url in about.get_all("Project-URL", [])} >= {"Homepage", "Documentation", "Source"}
    assert {name.split("/")[0] for name in files} == {"rescheduler", place.split("/")[0]}


def test_wheel_and_sdist_carry_what_one_begins_with(built: Built) -> None:
    """The wheel under one folder, the sdist where the checkout has it, byte by byte."""
    files = contents(built.wheel)
    for name in CARRIED:
        assert files[f"rescheduler/examples/{name}"] == (ROOT / name).read_bytes(), name
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= CARRIED
    assert not [name for name in names if name.startswith(("tests/", ".venv", "benchmarks/"))]


def test_the_wheel_of_the_sdist_is_that_of_the_checkout(built: Built) -> None:
    """File by file."""
    assert contents(built.wheel_of_sdist) == contents(built.wheel)


def test_it_runs_where_there_is_no_checkout(built: Built, tmp_path: Path) -> None:
    """Shipped policies and recordings are found in the installation, and a plan is made of them."""
    listed = run(built, tmp_path, "policy", "list")
    assert listed.returncode == 0, listed.stderr
    assert [line for line in listed.stdout.splitlines() if line.startswith("pending-only ")]
    folder = Path(listed.stderr.strip().partition(": ")[2])
    assert built.site in folder.parents
    planned = run(built, tmp_path, "plan", "-f", str(folder / "small.json"), "--policy", "pending-only", "-o", "json")
    assert planned.returncode == 0, planned.stderr
    assert json.loads(planned.stdout)["objectives"][0]["status"] == "OPTIMAL"
    assert run(built, tmp_path, "check", "pending-only").returncode == 0


def test_no_schema_is_dead_there(built: Built, tmp_path: Path) -> None:
    """Neither that of a file in the installation, nor that of a policy which was written elsewhere."""
    for file in (built.site / "rescheduler" / "examples" / "policies").iterdir():
        named = re.search(r"\$schema=(\S+)", file.read_text())
        assert named is not None
        assert (file.parent / named[1]).is_file()
    assert run(built, tmp_path, "policy", "init", "-o", "policy.yaml").returncode == 0
    named = re.search(r"\$schema=(\S+)", (tmp_path / "policy.yaml").read_text())
    assert named is not None
    assert built.site in Path(named[1]).parents
    assert Path(named[1]).is_file()


def test_each_extra_says_what_it_is_for() -> None:
    """A comment above it, and a line in the docs."""
    text = (ROOT / "pyproject.toml").read_text()
    for name in tomllib.loads(text)["project"]["optional-dependencies"]:
        assert re.search(rf"^# .+\n{name} = \[", text, re.MULTILINE), name
        assert f"`kube-rescheduler[{name}]`" in (ROOT / "docs" / "deploying.md").read_text()


def test_the_image_is_built_from_a_tree_that_is_enough(built: Built, tmp_path: Path) -> None:
    """The files that the image's build is given make the same wheel."""
    for line in (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines():
        source, target = ROOT / line[1:], tmp_path / "tree" / line[1:]
        if line[:1] == "!" and source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif line[:1] == "!":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    build(tmp_path / "tree", tmp_path / "dist", "-t", "wheel")
    [wheel] = (tmp_path / "dist").glob("*.whl")
    assert contents(wheel) == contents(built.wheel)
