"""A pending pod is led into kept room: nominated right before the release, and again when that failed."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.placing import FIRST_PATIENCE_SECONDS, MOMENT_SECONDS, Nominator
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.plan.plan import PodReference

OTHER = PodReference("default", "other-0", "u-1")
POD = PodReference("default", "big-0", "uid")
KEPT = HeldRoom(POD, HoldRequest("hold-a-0", "n0", (("cpu", 1000),), "", "default-scheduler", 60, "a"), True)


class Notebook:
    """A target that writes down what it is asked."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.is_taken, self.fails = True, False

    def hold(self, requests: list[HoldRequest]) -> None:
        """Note it."""
        self.acts.append("hold")

    def release(self, names: list[str]) -> None:
        """Note it."""
        self.acts.append("release")

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Note it."""
        self.acts.append(f"nominate {pod.name} {node}")
        if self.fails:
            raise ClusterError("connection reset")
        return self.is_taken

    def withdraw_nomination(self, pod: PodReference, node: str) -> bool:
        """Note it, or fail."""
        if self.fails:
            raise ClusterError("connection refused")
        self.acts.append(f"withdraw {pod.name} {node}")
        return True


def leader(*, guided: bool = True) -> tuple[Nominator, Notebook, SimulatedClock]:
    """A leader with one placeholder that stands."""
    notebook, clock = Notebook(), SimulatedClock()
    holds = Holds(notebook, clock)  # type: ignore[arg-type]
    holds.set([KEPT])
    found = Nominator(notebook, holds, clock)  # type: ignore[arg-type]
    found.is_guided = guided
    return found, notebook, clock


def test_the_nomination_comes_right_before_the_release() -> None:
    """Earlier, a failed attempt would clear it; later, a rival would be first."""
    leading, notebook, _ = leader()
    leading.lead(POD, "n0", POD)
    assert notebook.acts == ["hold", "nominate big-0 n0", "release"]


def test_a_pod_that_still_waits_is_led_again_behind_closed_doors() -> None:
    """The room is kept anew before the next try, and tries become rarer."""
    leading, notebook, clock = leader()
    leading.lead(POD, "n0", POD)
    leading.lead(POD, "n0", POD)
    assert len(notebook.acts) == 3
    clock.sleep(FIRST_PATIENCE_SECONDS)
    leading.lead(POD, "n0", POD)
    assert notebook.acts[3:] == ["hold", "nominate big-0 n0", "release"]
    clock.sleep(FIRST_PATIENCE_SECONDS)
    leading.lead(POD, "n0", POD)
    assert len(notebook.acts) == 6
    clock.sleep(FIRST_PATIENCE_SECONDS)
    leading.lead(POD, "n0", POD)
    assert len(notebook.acts) == 9


def test_a_new_pod_is_given_time_to_find_its_own_way() -> None:
    """Most replacements are bound within milliseconds: these are not touched."""
    leading, notebook, clock = leader()
    leading.lead(POD, "n0", POD, after_seconds=0.5)
    assert notebook.acts == ["hold"]
    clock.sleep(0.5)
    leading.lead(POD, "n0", POD, after_seconds=0.5)
    assert notebook.acts == ["hold", "nominate big-0 n0", "release"]


def test_nothing_is_written_without_guidance() -> None:
    """Predict leaves everything to the scheduler."""
    leading, notebook, _ = leader(guided=False)
    leading.lead(POD, "n0", POD)
    leading.suggest(POD, "n0")
    assert notebook.acts == ["hold"]


def test_a_pod_without_a_placeholder_is_only_nominated() -> None:
    """Nothing is made for it that was not there before."""
    leading, notebook, _ = leader()
    other = PodReference("default", "web-0", "uid-2")
    leading.lead(other, "n1", other)
    assert notebook.acts == ["hold", "nominate web-0 n1"]


def test_what_was_nominated_and_has_no_node_is_let_go_at_the_end() -> None:
    """Once; what arrived, or would not be nominated, is not asked about."""
    leading, notebook, _ = leader()
    leading.lead(POD, "n0", POD)
    leading.suggest(OTHER, "n1")
    leading.arrived(OTHER)
    notebook.is_taken = False
    leading.suggest(PodReference("default", "bound-0", "u-2"), "n1")
    notebook.acts.clear()
    assert leading.end() == []
    assert leading.end() == []
    assert notebook.acts == ["withdraw big-0 n0"]


def test_a_nomination_that_cannot_be_taken_off_is_told() -> None:
    """With the pod, the node and the reason."""
    leading, notebook, _ = leader()
    leading.lead(POD, "n0", POD)
    notebook.fails = True
    assert leading.end() == ["the nomination of default/big-0 to n0 could not be taken off: connection refused"]


def test_a_nomination_whose_answer_was_lost_is_taken_off_too() -> None:
    """It may stand."""
    leading, notebook, _ = leader()
    notebook.fails = True
    with pytest.raises(ClusterError):
        leading.nominate(OTHER, "n1")
    notebook.fails = False
    leading.end()
    assert notebook.acts[-1] == "withdraw other-0 n1"


def test_a_nomination_that_was_not_taken_is_told_and_forgotten() -> None:
    """Nor does an older one of the same pod stand any more: it is bound, or gone."""
    leading, notebook, _ = leader()
    assert leading.nominate(OTHER, "n1")
    notebook.is_taken = False
    assert not leading.nominate(OTHER, "n2")
    notebook.acts.clear()
    assert leading.end() == []
    assert notebook.acts == []


def test_who_was_let_go_right_before_the_end_gets_there_first() -> None:
    """No nomination is taken off in the moment in which the scheduler looks at it; without any, no time passes."""
    leading, notebook, clock = leader()
    leading.end()
    began = clock.monotonic()
    leading.nominate(OTHER, "n1")
    leading.end()
    assert clock.monotonic() - began == MOMENT_SECONDS
    assert notebook.acts[-1] == "withdraw other-0 n1"
