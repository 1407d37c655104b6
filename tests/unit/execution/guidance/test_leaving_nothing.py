"""The end of a run: everything is removed, tried twice, and what still stands then is told with its remedy."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.execution.guidance.gates import Gates
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.guidance.leaving_nothing import leave_nothing
from tests.unit.execution.guidance.keepers import FIRST, Noting, hold, taint


def left(*, has_taints: bool = True, has_gate: bool = True, **fails: int) -> tuple[str | None, list[Any]]:
    """What is told, and what was asked, where these calls fail so often."""
    target: Any = Noting()
    holds, gates = Holds(target, target.clock), Gates(target, target.clock, "a", 60.0)
    holds.set([hold(FIRST, "h0"), *([taint("t1", "n1"), taint("t2", "n2")] if has_taints else [])])
    if has_gate:
        gates.begin()
    target.did.clear()
    target.fails = fails
    return leave_nothing(holds, gates, 60.0), [name for name, *_ in target.did]


def test_everything_is_removed_once() -> None:
    """Taints first, the gate last; nothing is told."""
    assert left() == (None, ["untaint", "release", "gate"])


@pytest.mark.parametrize("name", ["untaint", "release", "gate"])
def test_what_fails_once_is_tried_again(name: str) -> None:
    """The rest is removed in the meantime all the same."""
    said, did = left(**{name: 1})
    assert said is None
    assert did.count(name) == 2
    assert {"untaint", "release", "gate"} == set(did)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "release",
            "placeholders could not be removed (release: connection refused); they go by themselves within 65 s",
        ),
        ("untaint", "our taint could not be taken off n1, n2 (untaint: connection refused)"),
        ("gate", "the gate could not be opened (gate: connection refused)"),
    ],
)
def test_what_fails_twice_is_told_with_what_to_do(name: str, said: str) -> None:
    """A third try is somebody else's."""
    told, did = left(**{name: 9})
    assert told is not None
    assert told.startswith(said)
    assert "`rescheduler clean`" in told
    assert did.count(name) == 2


def test_a_run_without_a_gate_asks_for_none() -> None:
    """Nor for taints where there are none."""
    assert left(has_taints=False, has_gate=False) == (None, ["release"])
