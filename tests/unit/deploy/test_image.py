"""The image: what its build file promises, read line by line."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.paths import DEPLOY, ROOT

LINES = [
    line
    for line in re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text()).splitlines()
    if line.strip() and not line.startswith("#")
]
FINAL = LINES[max(number for number, line in enumerate(LINES) if line.startswith("FROM")) :]
"""Instructions of the last stage, which is what is shipped."""


def instructions(word: str, lines: list[str] = LINES) -> list[str]:
    """What stands behind a word."""
    return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]


def test_every_stage_begins_with_the_image_that_was_given() -> None:
    """So that a digest pins all of them; the default names a version, never "latest"."""
    assert [line.partition(" AS ")[0] for line in instructions("FROM")] == ["${PYTHON_IMAGE}"] * 2
    assert instructions("ARG")[0] == "PYTHON_IMAGE=python:3.13-slim-bookworm"


def test_packages_are_checked_against_hashes() -> None:
    """What is downloaded is what the lock files name; what is installed comes from there."""
    [download, build] = instructions("RUN")
    fetched = [
        part for part in f"{download} && {build}".split("&&") if re.search(r"pip \S*.*(install|download|wheel)", part)
    ]
    assert len(fetched) == 4
    assert all("--require-hashes" in part or "--no-index" in part for part in fetched)


def test_it_runs_as_nobody_without_a_shell() -> None:
    """A fixed number, which restricted namespaces can check; commands as lists; nothing is run in the last stage."""
    assert instructions("USER", FINAL) == ["65532:65532"]
    assert instructions("ENTRYPOINT", FINAL) == ['["/opt/rescheduler/bin/rescheduler"]']
    assert instructions("CMD", FINAL) == ['["--help"]']
    assert instructions("RUN", FINAL) == []
    assert instructions("HEALTHCHECK", FINAL) == ["NONE"]


def test_its_root_may_be_read_only() -> None:
    """What is written goes to two volumes, and nowhere else."""
    [variables] = instructions("ENV", FINAL)
    assert instructions("VOLUME", FINAL) == ['["/tmp", "/var/lib/rescheduler"]']
    assert "XDG_STATE_HOME=/var/lib/rescheduler" in variables
    assert "PYTHONDONTWRITEBYTECODE=1" in variables
    state = next(line for line in instructions("COPY", FINAL) if line.endswith("/var/lib/rescheduler"))
    assert "--chown=65532:65532" in state


def test_nothing_unneeded_is_sent_to_the_build() -> None:
    """Everything is left out but what is copied."""
    first, *kept = [line for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] != "#"]
    assert first == "*"
    copied = {source for line in instructions("COPY") if "--from" not in line for source in line.split()[:-1]}
    assert {line.removeprefix("!") for line in kept if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_the_build_tools_are_locked_with_hashes() -> None:
    """Each package of the file has a version and at least one hash, and hatchling is among them."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "build-requirements.lock").read_text())
    packages = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert any(line.startswith("hatchling==") for line in packages)
    assert all(re.match(r"[-a-z0-9]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line) for line in packages)


def test_hadolint_finds_nothing() -> None:
    """Where that tool is installed."""
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, "--no-color", str(DEPLOY / "Dockerfile")], capture_output=True, text=True)
    assert done.stdout == ""
