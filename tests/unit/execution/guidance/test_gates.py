"""The gate of one plan: closed for owners whose pods leave, kept closed in time, and open for everybody at the end."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.execution.guidance.gates import Gates, is_gated
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.pod import Pod
from tests.builders import pod
from tests.unit.execution.guidance.keepers import Noting

NOBODY = "rescheduler.dev/nobody"


def gate(target: Any, seconds: float = 60.0) -> Gates:
    """Of plan "a"."""
    return Gates(target, target.clock, "a", seconds)


def waiting(name: str, **fields: Any) -> Pod:
    """A pod at the gate."""
    return pod(name, **{"scheduling_gates": (GUIDE_GATE,), **fields})


def closed() -> tuple[Noting, Gates]:
    """For the owners of two pods that leave; the third has none."""
    target = Noting()
    gates = gate(target)
    gates.begin()
    gates.close((item, None) for item in (pod("web-0"), pod("api-0"), pod("bare", owner=None)))
    target.did.clear()
    return target, gates


def test_families_are_let_go_in_the_order_in_which_they_were_held() -> None:
    """Whatever the order of hashes is in this process."""
    target = Noting()
    gates = gate(target)
    names = [f"space-{number}" for number in range(12)]
    gates.close([(pod("web-0", namespace=name), None) for name in names])
    gates.end()
    assert [what for what in target.did if what[0] == "read"] == [("read", name) for name in names]


def test_a_gate_that_begins_holds_nobody_back() -> None:
    """It stands, and is tried out: where that fails the reason is told, and it may stand all the same."""
    target = Noting()
    gates = gate(target)
    assert not gates.stands
    assert gates.begin() is None
    assert target.did == [("gate", NOBODY, "a", 60)]
    assert gates.stands
    failing = Noting()
    failing.fails["gate"] = 1
    gates = gate(failing)
    assert gates.begin() == "gate: connection refused"
    assert gates.stands


def test_a_gate_is_closed_for_owners_in_order_and_for_all_that_were_named() -> None:
    """Pods without an owner have no replacements to hold; where nobody is left, nobody is held."""
    target = Noting()
    gates = gate(target)
    gates.close([(pod("bare", owner=None), None)])
    gates.close([(pod("web-0"), None)])
    gates.close([(pod("api-0"), None)])
    assert target.did == [
        ("gate", NOBODY, "a", 60),
        ("gate", "uid-default-web", "a", 60),
        ("gate", "uid-default-api", "uid-default-web", "a", 60),
    ]


@pytest.mark.parametrize("is_end", [False, True])
def test_whoever_still_waits_is_let_go(is_end: bool) -> None:
    """At an opening as at the end; others' pods, and those that do not wait, are left alone."""
    target, gates = closed()
    target.pods = [
        waiting("web-1"), waiting("api-1"), waiting("db-1"), waiting("lone", owner=None), pod("web-2"),
        waiting("web-3", node="n0"), waiting("web-4", namespace="other"),
    ]  # fmt: skip
    if is_end:
        gates.end()
    else:
        gates.open()
    first = ("gate", "a", 60) if is_end else ("gate", NOBODY, "a", 60)
    assert target.did == [first, ("read", "default"), ("ungate", "web-1"), ("ungate", "api-1")]
    assert gates.stands is not is_end
    target.did.clear()
    gates.end()
    assert target.did == ([] if is_end else [("gate", "a", 60)])


def test_what_was_not_let_go_is_let_go_by_the_next_call() -> None:
    """The rule that is gone is not taken away twice."""
    target, gates = closed()
    target.pods = [waiting("web-1")]
    target.fails["ungate"] = 1
    with pytest.raises(ClusterError):
        gates.end()
    target.did.clear()
    gates.end()
    assert target.did == [("read", "default"), ("ungate", "web-1")]


def test_a_pod_that_is_gone_is_told() -> None:
    """It cannot be let go."""
    target, gates = closed()
    target.pods = [waiting("web-1")]
    assert gates.let_go(waiting("web-1"))
    assert not gates.let_go(waiting("web-9"))


def test_the_rule_is_renewed_at_half_its_time() -> None:
    """For the owners that are held, and not before it stands."""
    target = Noting()
    gates = gate(target, 10.9)
    target.clock.sleep(100.0)
    gates.keep()
    assert target.did == []
    gates.close([(pod("web-0"), None)])
    for _ in range(60):
        target.clock.sleep(0.25)
        gates.keep()
    assert target.did == [("gate", "uid-default-web", "a", 10)] * 4, "at first, and after 5, 10 and 15 s"


def test_a_rule_has_a_second_at_least() -> None:
    """As the API wants whole ones."""
    target = Noting()
    gate(target, 0.2).begin()
    assert target.did == [("gate", NOBODY, "a", 1)]


def test_a_renewal_that_fails_is_tried_each_second_until_the_time_is_over() -> None:
    """Then replacements may have passed the gate."""
    target = Noting()
    gates = gate(target, 10.0)
    gates.close([(pod("web-0"), None)])
    target.fails["gate"] = 100
    for _ in range(39):
        target.clock.sleep(0.25)
        gates.keep()
    assert len(target.did) == 1 + 5
    target.clock.sleep(0.25)
    with pytest.raises(PlanStoppedError, match="could not be held back any longer: gate: connection refused"):
        gates.keep()


@pytest.mark.parametrize(
    ("found", "is_waiting"),
    [
        (waiting("web-0"), True),
        (pod("web-0"), False),
        (pod("web-0", scheduling_gates=("example.com/gate",)), False),
        (waiting("web-0", node="n0"), False),
    ],
)
def test_only_a_pod_without_a_node_waits_at_our_gate(found: Pod, is_waiting: bool) -> None:
    """One that is bound has passed it, whatever its list says."""
    assert is_gated(found) is is_waiting
