"""One pod that is out: it is evicted only when nobody would notice, and given back at everything else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.surge.surge_core import (
    Act,
    Evict,
    GiveBack,
    Gone,
    SurgeRules,
    SurgeSight,
    SurgeState,
    Wait,
    begun,
    decide,
    is_ready,
    marks_of,
    put_off,
)
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from tests.builders import NOW, pod
from tests.unit.execution.surge.scenes import workloads

RULES = SurgeRules(ready_within_seconds=60.0, settle_seconds=5.0)
OWNERS = workloads(1)


def sight(**fields: Any) -> SurgeSight:
    """A look at which the replacement is Ready and answers; other fields are given."""
    new = pod("web-new", node="n1", ready_at=NOW - 1.0)
    found = SurgeSight(pod("web-0", node="n0"), True, new, marks_of(OWNERS), True, None, NOW)
    return found._replace(**fields)


def acts(*looks: tuple[float, SurgeSight], owners: tuple[Workload, ...] = OWNERS) -> list[Act]:
    """What looks at these times lead to, in order."""
    state: SurgeState = begun(RULES, owners, 0.0)
    found = []
    for now, seen in looks:
        state, act = decide(RULES, state, seen, now)
        found.append(act)
    return found


def test_the_eviction_comes_last() -> None:
    """A replacement that is not there, has no node, is not Ready or does not answer is waited for; then it settles."""
    new = pod("web-new", node="n1", is_ready=False)
    pending = pod("web-new")
    looks = [
        (1.0, sight(new=None, answers=False)), (2.0, sight(new=pending, answers=False)),
        (3.0, sight(new=new, answers=False)), (4.0, sight(answers=False)), (5.0, sight()), (9.9, sight()),
        (10.0, sight()),
    ]  # fmt: skip
    assert acts(*looks) == [Wait()] * 6 + [Evict()]


def test_who_stops_answering_settles_anew() -> None:
    """The time to settle counts from the last moment at which the replacement did not do what the old pod does."""
    looks = [(1.0, sight()), (5.0, sight(answers=False)), (7.0, sight()), (11.0, sight()), (12.0, sight())]
    assert acts(*looks) == [Wait(), Wait(), Wait(), Wait(), Evict()]


def test_min_ready_seconds_are_waited_for() -> None:
    """And one more, since the API server cuts times to whole seconds."""
    new = pod("web-new", node="n1", ready_at=NOW)
    assert is_ready(new, 0, NOW)
    assert not is_ready(new, 10, NOW + 10.5)
    assert is_ready(new, 10, NOW + 11.0)
    assert not is_ready(structs.replace(new, ready_at=None), 10, NOW + 99.0)
    assert begun(RULES, (structs.replace(OWNERS[0], min_ready_seconds=10), OWNERS[1]), 0.0).min_ready_seconds == 10


def changed(number: int, **fields: Any) -> tuple[Any, ...]:
    """Marks of owners of which one has changed."""
    owners = list(OWNERS)
    owners[number] = structs.replace(owners[number], **fields)
    return marks_of(owners)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"desired_replicas": 2, "generation": 2}, "scaled from 1 to 2"),
        ({"desired_replicas": 0, "generation": 2}, "scaled from 1 to 0"),
        ({"generation": 2}, "changed"),
        ({"is_terminating": True}, "deleted"),
        ({"uid": "another"}, "deleted"),
    ],
)
def test_whoever_changes_an_owner_wins(number: int, fields: dict[str, Any], why: str) -> None:
    """Of the ReplicaSet as of its Deployment, at any time, also where the replacement is Ready."""
    [act] = acts((50.0, sight(owners=changed(number, **fields))))
    assert isinstance(act, GiveBack)
    assert why in act.why


def test_an_owner_that_is_gone_is_deleted() -> None:
    """Nothing is read of it."""
    assert acts((1.0, sight(owners=(None, None)))) == [GiveBack("its owner was deleted meanwhile")]


@pytest.mark.parametrize(
    ("fields", "now", "why"),
    [
        ({"is_out": False}, 1.0, "somebody else has given it back"),
        ({"failure": "ImagePullBackOff"}, 1.0, "its replacement does not work: ImagePullBackOff"),
        ({"new": None}, 60.0, "its replacement was not Ready and answering within 60 s"),
        ({}, 60.0, "its replacement was not Ready and answering within 60 s"),
    ],
)
def test_what_goes_wrong_gives_the_pod_back(fields: dict[str, Any], now: float, why: str) -> None:
    """Each in its own words; the time is over also for who was about to settle."""
    assert acts((now, sight(**fields))) == [GiveBack(why)]


@pytest.mark.parametrize("old", [None, {"deletion_at": NOW}, {"phase": "Succeeded"}])
def test_an_old_pod_that_goes_by_itself_is_gone(old: dict[str, Any] | None) -> None:
    """Whatever else is wrong: there is nothing to give back, unless its owner went first, and took it along.

    Once the Eviction API was asked it may have been us, and is owed for all the same.
    """
    found: Pod | None = None if old is None else structs.replace(pod("web-0", node="n0"), **old)
    assert acts((99.0, sight(old=found, is_out=False, failure="x"))) == [Gone()]
    deleted = sight(old=found, is_out=False, owners=(None, None))
    assert acts((99.0, deleted)) == [GiveBack("its owner was deleted meanwhile")]
    asked = put_off(begun(RULES, OWNERS, 0.0), 6.0)
    assert decide(RULES, asked, deleted, 7.0)[1] == Gone()


def test_an_eviction_that_a_budget_refuses_is_asked_for_again_a_second_later() -> None:
    """Until the time is over."""
    state, act = decide(RULES, begun(RULES, OWNERS, 0.0), sight(), 1.0)
    state, act = decide(RULES, state, sight(), 6.0)
    assert act == Evict()
    state = put_off(state, 6.0)
    assert decide(RULES, state, sight(), 6.9)[1] == Wait()
    assert decide(RULES, state, sight(), 7.0)[1] == Evict()
    assert isinstance(decide(RULES, state, sight(), 60.0)[1], GiveBack)
