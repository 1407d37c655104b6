"""``policy``: what is shipped, and one's own policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy, parse_policy
from rescheduler.policy.shipped import shipped_policies
from tests.unit.cli.conftest import Answer

Shell = Callable[..., Answer]


def test_the_list_names_each_policy_with_its_purpose(shell: Shell) -> None:
    """On standard output; where the recordings are stands on standard error."""
    answer = shell("policy", "list")
    assert answer.code == 0
    names = [line.split()[0] for line in answer.out.splitlines()[1:] if not line.startswith(" ")]
    assert names == list(shipped_policies())
    folder = Path(answer.err.strip().partition(": ")[2])
    assert (folder / "small.json").is_file()


def test_a_policy_is_shown_as_it_is(shell: Shell) -> None:
    """What is written means the same as the name."""
    answer = shell("policy", "show", "consolidate")
    assert (answer.code, parse_policy(answer.out)) == (0, load_policy(["consolidate"]))


def test_one_begins_with_pending_only_and_is_asked_nothing(shell: Shell, tmp_path: Path) -> None:
    """On standard output, or in a new file."""
    shown = shell("policy", "init")
    assert (shown.code, parse_policy(shown.out)) == (0, load_policy(["pending-only"]))
    file = tmp_path / "policy.yaml"
    assert shell("policy", "init", "balance", "-o", str(file)).code == 0
    assert load_policy([file]) == load_policy(["balance"])


@pytest.mark.parametrize("command", [("init",), ("show", "balance")])
def test_nothing_is_ever_written_over(shell: Shell, tmp_path: Path, command: tuple[str, ...]) -> None:
    """A file that exists is wrong use, and stays as it is."""
    file = tmp_path / "policy.yaml"
    file.write_text("mine")
    answer = shell("policy", *command, "-o", str(file))
    assert (answer.code, answer.out, file.read_text()) == (2, "", "mine")
    assert "nothing is written over" in answer.err


@pytest.mark.parametrize("command", ["show", "init"])
def test_an_unknown_name_is_wrong_use_with_the_nearest(shell: Shell, command: str) -> None:
    """And all that there are."""
    answer = shell("policy", command, "blance")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean balance?" in answer.err


def test_a_shipped_policy_is_taken_by_its_name(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a policy is named; an unknown name is wrong use."""
    monkeypatch.chdir(tmp_path)
    assert shell("check", "pending-only").out.splitlines()[1].startswith("pending-only is valid.")
    answer = shell("plan", "--policy", "pending-onyl")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean pending-only?" in answer.err
