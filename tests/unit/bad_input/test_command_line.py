"""Bad command lines, by the number of their case: wrong use is exit 2, a file or cluster that fails is exit 1."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.api_objects import list_of, node_object, pod_object

USE = [
    ("C2-command", ("plna",), "Did you mean 'plan'?"),
    ("C2-option", ("plan", "--polcy", "p"), "--policy"),
    ("C5-two-sources", ("plan", "-f", "c.json", "--context", "b"), "give one of them"),
    ("C13-seed", ("plan", "--seed", "abc"), "found 'abc'; wanted a whole number from 0 to 2147483647"),
    ("C13-seed-high", ("plan", "--seed", "1000000000000000000"), "wanted a whole number from 0 to 2147483647"),
    ("C13-timeout", ("apply", "--timeout", "0"), "'0' leaves no time at all"),
    ("C13-evictions", ("plan", "--max-evictions", "-1"), "found '-1'; wanted a whole number from 0 to 1000000"),
    ("C13-cycles", ("simulate", "--cycles", "0"), "wanted a whole number from 1 to 1000"),
    ("C13-window", ("top", "nodes", "--window", "-5m"), "write it like 90s, 5m or 1h30m"),
    ("C13-pod", ("explain", "pod", "web-1"), "wanted a pod as NAMESPACE/NAME"),
    ("C13-address", ("watcher", "--address", "x"), "wanted HOST:PORT"),
    ("C13-form", ("plan", "-o", "xml"), "'html'"),
    ("C3-policy-missing", ("check", "gone.yaml"), "gone.yaml: cannot be read: No such file or directory"),
    ("C3-policy-folder", ("check", "."), ".: a folder; name a policy file in it"),
    ("C3-policy-pipe", ("check", "pipe"), "pipe: a pipe; name a policy file"),
    ("C3-policy-device", ("check", "/dev/zero"), "/dev/zero: a device; name a policy file"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run: a recording, and a pipe to which nobody writes."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text(json.dumps(list_of(node_object(), pod_object())))
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(("arguments", "text"), [each[1:] for each in USE], ids=[each[0] for each in USE])
def test_wrong_use_is_told_in_one_paragraph(shell: Any, arguments: tuple[str, ...], text: str) -> None:
    """Exit 2 with what was found and what was wanted; nothing on standard output."""
    answer = shell(*arguments)
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (2, "", 1)
    assert text in answer.err


FILES = [
    ("C3-missing", ("-f", "gone.json"), "gone.json: cannot be read: No such file or directory"),
    ("C3-folder", ("-f", "."), ".: is a directory; name the files in it"),
    ("C3-pipe", ("-f", "pipe"), "pipe: is a pipe; read it as standard input: -f - < pipe"),
    ("C3-load-pipe", ("-f", "c.json", "--usage", "pipe"), "pipe: is a pipe"),
    ("C3-load-missing", ("-f", "c.json", "--usage", "gone.json"), "gone.json: cannot be read: No such file"),
    ("C7-missing", ("--kubeconfig", "gone"), "there is no kubeconfig at gone"),
    ("C7-broken", ("--kubeconfig", "c.json"), "c.json"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "text"), [each[1:] for each in FILES], ids=[each[0] for each in FILES])
def test_what_cannot_be_read_is_named_with_the_reason(shell: Any, arguments: tuple[str, ...], text: str) -> None:
    """Exit 1, at once: a pipe is not waited for."""
    answer = shell("plan", *arguments)
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (1, "", 1)
    assert text in answer.err


def test_c1_without_a_command_the_help_is_shown(shell: Any) -> None:
    """Exit 2, with the commands in the order in which one learns them."""
    answer = shell()
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.index("check") < answer.err.index("apply")


def test_c10_a_file_that_is_no_plan_is_refused(shell: Any) -> None:
    """A recording in place of a plan is told by its version."""
    answer = shell("apply", "--plan", "c.json", "--yes")
    assert (answer.code, answer.out) == (1, "")
    assert "c.json: apiVersion: found v1; wanted rescheduler/v1alpha1" in answer.err


def test_c11_a_file_that_exists_is_not_written_over(shell: Any, folder: Path) -> None:
    """``snapshot`` refuses before it reads anything, and a folder that is not there is told."""
    before = (folder / "c.json").read_bytes()
    answer = shell("snapshot", "-o", "c.json")
    assert answer.code == 2
    assert "the file exists; name another, or repeat with --force" in answer.err
    assert (folder / "c.json").read_bytes() == before
    assert "there is no folder" in shell("snapshot", "-o", "gone/c.json").err
