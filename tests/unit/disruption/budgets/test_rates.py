"""Rates of a policy's budgets: which earlier evictions count, what they leave, and when the next may be."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.daemon.ledger import EntryState
from tests.builders import NOW
from tests.unit.disruption.budgets.cases import decided, entry, groups, ledger, reason, world

RATE = {"maxEvictions": 3, "window": "1h"}
WEB = {"matchLabels": {"app": "web"}}


@pytest.mark.parametrize(
    ("state", "left"),
    [
        (EntryState.INTENDED, 2),
        (EntryState.OPEN, 2),
        (EntryState.REPAID, 2),
        (EntryState.FAILED, 2),
        (EntryState.REFUSED, 3),
        (EntryState.NOT_EVICTED, 3),
    ],
)
def test_a_rate_counts_what_was_sent(state: EntryState, left: int) -> None:
    """Whatever became of it; what was refused was no eviction."""
    found = groups(decided(world(), {"rate": RATE}, ledger=ledger(entry(state=state))))
    assert [in_plan for _, in_plan, _ in found.values()] == [left]


@pytest.mark.parametrize(("ago", "left"), [(0, 2), (3599, 2), (3600, 3), (7200, 3), (-600, 2)])
def test_a_rate_looks_back_over_its_window(ago: float, left: int) -> None:
    """What was sent an hour ago counts no more; what seems to lie in the future counts."""
    found = groups(decided(world(), {"rate": RATE}, ledger=ledger(entry(at=NOW - ago))))
    assert [in_plan for _, in_plan, _ in found.values()] == [left]


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        ({"labelSelector": WEB}, {"budget x": 2}),
        ({"namespaces": ["default"]}, {"budget x": 1}),
        ({"namespaces": ["default"], "per": "Node"}, {"budget x of node n0": 2}),
        ({"per": "Node"}, {"budget x of node n0": 2}),
        ({"per": "Zone"}, {"budget x of zone a": 2, "budget x of zone b": 3}),
        ({"per": "Namespace"}, {"budget x of namespace default": 1}),
        ({"per": "Workload"}, {"budget x of ReplicaSet default/web": 2}),
    ],
)
def test_a_rate_counts_by_what_the_ledger_keeps_of_each_pod(limit: dict[str, Any], left: dict[str, int]) -> None:
    """Namespace, labels, node, zone and workload of then, whatever the policy was; pods of n3 cannot use up four."""
    earlier = ledger(
        entry(1), entry(2, labels={"app": "api"}, workload="uid-default-api"), entry(3, from_node="n3", zone="b")
    )
    budget = {"name": "x", **limit, "rate": {"maxEvictions": 4, "window": "1h"}}
    found = groups(decided(world(), budget, ledger=earlier))
    assert {name: in_plan for name, (_, in_plan, _) in found.items()} == left


@pytest.mark.parametrize(("most", "sent", "left"), [(1, 0, 1), (2, 1, 1), (3, 2, 1)])
def test_the_last_slot_of_a_rate_may_be_used(most: int, sent: int, left: int) -> None:
    """By one pod of all."""
    earlier = ledger(*(entry(number) for number in range(sent)))
    found = groups(decided(world(), {"rate": {**RATE, "maxEvictions": most}}, ledger=earlier))
    assert found == {"budget 1": (left, left, 12)}


def test_a_rate_that_is_used_up_on_one_node_keeps_the_pods_of_that_node_alone() -> None:
    """Those of the others go."""
    seen = world()
    found = decided(seen, {"per": "Node", "rate": {**RATE, "maxEvictions": 1}}, ledger=ledger(entry()))
    assert {seen.pods[index].node_name for index in found.movable} == {"n1", "n2", "n3"}


@pytest.mark.parametrize(
    ("most", "minutes", "when"),
    [(3, (50, 40, 30), "08:10"), (1, (30,), "08:30"), (1, (50, 30), "08:30"), (0, (30,), None)],
)
def test_a_rate_says_when_the_next_may_be(most: int, minutes: tuple[int, ...], when: str | None) -> None:
    """As soon as it is used up; one that allows nothing promises nothing."""
    earlier = ledger(*(entry(number, at=NOW - 60 * number) for number in minutes))
    told = reason(decided(world(), {"rate": {**RATE, "maxEvictions": most}}, ledger=earlier))
    promised = "" if when is None else f", and the next may be at 2027-01-15 {when} UTC"
    assert told.endswith(f": {len(minutes)} of {most} evictions in 1h are used{promised}")


def test_an_entry_that_does_not_tell_its_labels_counts_in_each_budget_that_asks_for_them() -> None:
    """Written under a policy that did not ask; one that tells them counts where it belongs."""
    budget = {"name": "x", "labelSelector": WEB, "rate": {"maxEvictions": 4, "window": "1h"}}
    for label_keys, in_plan in ((None, 4), (("app", "tier"), 4), (("tier",), 3), ((), 3)):
        earlier = ledger(entry(1, label_keys=label_keys, labels={"tier": "a"}))
        assert groups(decided(world(), budget, ledger=earlier))["budget x"][1] == in_plan, label_keys


def test_a_rate_that_is_used_up_says_when_it_frees_a_slot() -> None:
    """An hour after the third of the last evictions."""
    earlier = ledger(*(entry(number, at=NOW - 60 * number) for number in (50, 40, 30, 20)))
    found = decided(world(), {"name": "slow", "rate": RATE}, ledger=earlier)
    assert found.movable == ()
    assert reason(found) == (
        "is covered by budget slow, whose rate is used up: 4 of 3 evictions in 1h are used, and the next may be at "
        "2027-01-15 08:20 UTC"
    )
