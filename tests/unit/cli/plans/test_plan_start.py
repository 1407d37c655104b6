"""``plan --start PLAN``: the search begins where another plan ended; ``--watch`` begins with its own last plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.plans import repeating
from tests.paths import EXAMPLES
from tests.unit.cli.conftest import Answer, World

SMALL = str(EXAMPLES / "small.json")


def timeless(text: str) -> Any:
    """A plan without how long it took."""
    plan = json.loads(text)
    for objective in plan["objectives"]:
        objective["seconds"] = 0
    return plan


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_plan_of_the_same_cluster_is_found_again(shell: Callable[..., Answer], tmp_path: Path, form: str) -> None:
    """Nothing of it is lost, and nothing is said."""
    first = shell("plan", "-f", SMALL, "-o", "json")
    start = tmp_path / "start"
    start.write_text(shell("plan", "-f", SMALL, "-o", form).out)
    again = shell("plan", "-f", SMALL, "--start", str(start), "-o", "json")
    assert again.code == 0
    assert "of the start" not in again.err
    assert timeless(again.out) == timeless(first.out)
    assert timeless(shell("plan", "-f", SMALL, "--start", str(start), "-o", "json").out) == timeless(again.out)


def test_a_plan_of_another_cluster_is_no_error_and_what_is_lost_is_said(
    shell: Callable[..., Answer], tmp_path: Path
) -> None:
    """On stderr and in the plan."""
    start = tmp_path / "start.json"
    start.write_text(shell("plan", "-f", SMALL, "-o", "json").out)
    answer = shell("plan", "-f", str(EXAMPLES / "infeasible.json"), "--start", str(start), "-o", "json")
    assert answer.code == 0
    assert "the search began with 0 of" in answer.err
    assert "of pods that are gone" in answer.err
    assert any("the search began with 0 of" in text for text in json.loads(answer.out)["warnings"])


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "cannot be read"), ("", "the file is empty"), ("{}", "apiVersion: found nothing; wanted rescheduler")],
)
def test_a_bad_file_is_named_with_what_is_wrong(
    shell: Callable[..., Answer], tmp_path: Path, text: str | None, said: str
) -> None:
    """Exit 1, as for every file that cannot be used."""
    start = tmp_path / "start.json"
    if text is not None:
        start.write_text(text)
    answer = shell("plan", "-f", SMALL, "--start", str(start))
    assert answer.code == 1
    assert f"{start}: " in answer.err
    assert said in answer.err


def test_questions_about_a_cluster_that_is_not_so_take_no_start(shell: Callable[..., Answer], tmp_path: Path) -> None:
    """Nor do rules of somebody else; before anything is read."""
    for more in (("--remove-node", "a"), ("--add-node", "like:a"), ("--replace-node", "a")):
        answer = shell("plan", "-f", SMALL, "--start", "start.json", *more)
        assert answer.code == 2
        assert "--start begins with a plan for the cluster as it is" in answer.err
    start, theirs = tmp_path / "start.json", tmp_path / "theirs.yaml"
    start.write_text(shell("plan", "-f", SMALL, "-o", "json").out)
    theirs.write_text("apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: []\n")
    answer = shell("plan", "-f", SMALL, "--start", str(start), "--policy", str(theirs))
    assert answer.code == 2
    assert "--start begins our own planner" in answer.err


def test_watching_begins_each_plan_with_the_last(
    shell: Callable[..., Answer], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first with none."""
    starts: list[Any] = []

    def twice(once: Callable[[], object], _: Any) -> int:
        for _number in range(2):
            once()
            starts.append(world.calls["plan"]["options"].start)
        return 0

    monkeypatch.setattr(repeating, "repeated", twice)
    assert shell("plan", "-f", SMALL, "--watch").code == 0
    assert starts == [None, world.plan]
