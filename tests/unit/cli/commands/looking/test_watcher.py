"""``watcher``: what it refuses before it listens. That it works is shown in tests/metrics, as a process."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Answer
from tests.unit.composition.recorded_load import answers, recorded_cluster, recorded_policy

Shell = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cluster and a policy."""
    recorded_cluster(tmp_path, "a")
    recorded_policy(tmp_path, answers(a=20))
    return tmp_path


def watcher(shell: Shell, folder: Path, *more: str, policy: str = "") -> Answer:
    """The command; ``policy``: lines to add below ``usage``."""
    file = folder / "policy.yaml"
    file.write_text(file.read_text() + policy)
    return shell("watcher", "--policy", str(file), "-f", str(folder / "cluster.json"), *more)


def test_a_policy_without_providers_is_wrong_use(shell: Shell, folder: Path) -> None:
    """With what to write into it; no policy at all, too."""
    answer = shell("watcher", "-f", str(folder / "cluster.json"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("usage.providers: none; write where load comes from")


def test_a_port_in_use_is_told(shell: Shell, folder: Path) -> None:
    """With the address and the way out."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        answer = watcher(shell, folder, "--address", address)
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert answer.err.startswith(f"error: {address}: another process listens there already; write another --address")


def test_an_open_address_without_protection_is_wrong_use(shell: Shell, folder: Path) -> None:
    """By option and by policy."""
    for answer in (
        watcher(shell, folder, "--address", "0.0.0.0:0"),
        watcher(shell, folder, policy='  api: {address: "0.0.0.0:0"}\n'),
    ):
        assert answer.code == 2
        assert "usage.api: 0.0.0.0:0 can be reached from elsewhere" in answer.err


def test_a_token_that_cannot_be_read_is_told_at_the_start(shell: Shell, folder: Path) -> None:
    """Not with the first request."""
    answer = watcher(shell, folder, "--address", "127.0.0.1:0", policy="  api: {bearerToken: {file: none}}\n")
    assert answer.code == 1
    assert "none" in answer.err
    assert "missing" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("--address", "nowhere"), 2, "--address: found 'nowhere', no address to listen on; wanted HOST:PORT"),
        (("--address", ""), 2, "no address to listen on"),
        (("--address", "127.0.0.1:65536"), 2, "no address to listen on"),
        (("--context", "x"), 2, "-f reads a recording, --kubeconfig and --context a live cluster"),
        (("surplus",), 2, "surplus"),
    ],
)
def test_wrong_options_are_told(shell: Shell, folder: Path, arguments: tuple[str, ...], code: int, text: str) -> None:
    """One paragraph, no traceback."""
    answer = watcher(shell, folder, *arguments)
    assert (answer.code, answer.out) == (code, "")
    assert text in answer.err
    assert "Traceback" not in answer.err


def test_wrong_arguments_of_a_provider_are_told_with_their_place(shell: Shell, folder: Path) -> None:
    """And so does check."""
    file = folder / "policy.yaml"
    file.write_text(file.read_text().replace("file: load.json", "fiel: load.json"))
    text = "usage.providers[0].args.fiel: unknown argument; did you mean file?"
    cluster = ("--policy", str(file), "-f", str(folder / "cluster.json"))
    for answer in (
        shell("check", str(file)),
        watcher(shell, folder),
        shell("top", "nodes", *cluster),
        shell("schedule", *cluster),
    ):
        assert answer.code == 2
        assert f"{file}: {text}" in answer.err.splitlines()


def test_a_policy_that_names_no_provider_is_named(shell: Shell, folder: Path) -> None:
    """By the watcher and by top."""
    file = folder / "empty.yaml"
    file.write_text("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n")
    for command in (("watcher",), ("top", "nodes")):
        answer = shell(*command, "--policy", str(file), "-f", str(folder / "cluster.json"))
        assert answer.code == 2
        assert answer.err.startswith(f"{file}: usage.providers: none; write where load comes from")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".", "is a folder; wanted the name of a file"),
        ("nowhere/usage.sqlite", "nowhere does not exist; make it, or name another"),
    ],
)
def test_a_store_that_can_never_be_written_is_wrong_use(shell: Shell, folder: Path, path: str, text: str) -> None:
    """Told at the start; a disk that is full may have room later, and is none."""
    answer = watcher(shell, folder, "--address", "127.0.0.1:0", policy=f"  store: {{path: {path}}}\n")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert answer.err.startswith(f"{folder / 'policy.yaml'}: usage.store.path: ")
    assert text in answer.err
