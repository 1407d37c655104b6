"""Tests of the warnings about what would hold the daemon back."""

from __future__ import annotations

from rescheduler.disruption.cautions import cautions
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Breaker, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.plan.plan import Move, Plan, PodReference, SnapshotSummary
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger

BRISK = {"disruption": {"rampUp": "unlimited"}}
AT_ONCE = policy(**BRISK)
CALM = cluster(*(node(f"n{n}") for n in range(4)), workload("web", 4), *(pod(f"web-{n}", node="n1") for n in range(4)))


def told(seen: Cluster = CALM, moves: int = 2, by: Policy | None = None, past: Ledger = EMPTY_LEDGER) -> list[str]:
    """What is said of a plan that moves so many pods from n1 to n2."""
    plan = Plan(SnapshotSummary(None, 4, 4, 0, "test"), moves=tuple(move(number) for number in range(moves)))
    return list(cautions(seen, plan, by or AT_ONCE, past))


def move(number: int) -> Move:
    """A move of one replica."""
    return Move(PodReference("default", f"web-{number}", f"uid-default-web-{number}"), "n1", "n2", 1, "MakeRoom", "r")


def test_a_calm_cluster_gives_no_warning() -> None:
    """Nor does an empty plan on a sick one."""
    assert told() == []
    sick = cluster(*(node(f"n{n}", is_ready=False) for n in range(4)))
    assert told(sick, moves=0) == []


def test_health_and_head_room_are_told() -> None:
    """With the fields that ask for them."""
    sick = cluster(*(node(f"n{n}", is_ready=n > 2) for n in range(4)), *(pod(f"web-{n}", node="n3") for n in range(6)))
    assert told(sick) == [
        "run would wait now: 3 of 4 nodes are not ready (policy: health.unreadyNodes)",
        "run would not do this: 0.0% of cpu stays free, less than the 5% to be kept (policy: health.headRoom)",
    ]
    assert told(sick, by=policy(health={"unreadyNodes": "0%", "headRoom": 0.0}, **BRISK)) == []


def test_what_the_ledger_remembers_is_told() -> None:
    """The breaker, pods that rest (counted, the first in full), and the ramp-up."""
    assert told(past=ledger(breaker=Breaker(opened_at=NOW, openings=2, reason="because"))) == [
        "run would wait now: the circuit breaker is open: because; it opened 2 times, so an operator has to close it"
    ]
    many = policy(disruption={"rampUp": "unlimited", "rates": {"perWorkloadPerHour": 9}})
    found = told(past=ledger(entry(9, ago=60, landed_on="n3")), by=many)
    assert len(found) == 1
    assert found[0].startswith("run would leave 2 of these pods alone for now: default/web-0 belongs to a workload")
    slow = policy(disruption={"rampUp": {"start": 2}})
    past = ledger(entry(9, ago=60, workload=""))
    assert told(by=slow, past=past) == ["run would evict 1 of these 2 pods now: its ramp-up allows 2 within 1h"]
    assert told(by=slow, past=past, moves=1) == []


def test_workloads_in_motion_are_told() -> None:
    """``run`` would leave them alone; where the policy does so itself, no plan has such moves."""
    rolling = workload("web", 4, updated_replicas=3)
    seen = cluster(*(node(f"n{n}") for n in range(4)), rolling, *(pod(f"web-{n}", node="n1") for n in range(4)))
    reason = "default/web-0 belongs to ReplicaSet default/web, which is rolling out: 3 of 4 replicas are up to date"
    assert told(seen) == [f"run would leave 2 of these pods alone for now: {reason}"]
    assert told(seen, by=policy(disruption={"unsettled": "Deny", "rampUp": "unlimited"})) == []


def test_what_other_pods_say_of_a_workload_is_told() -> None:
    """Those that the plan does not move too: here, of another revision."""
    up = OwnerReference("Deployment", "shop", "uid-default-shop")
    above = workload("shop", 5, kind="Deployment", selector=None)
    owners = (workload("web", 4, owner=up), workload("old", 1, owner=up), above)
    seen = cluster(*CALM.nodes, *owners, *CALM.pods, pod("old-0", node="n1"))
    reason = "default/web-0 belongs to Deployment default/shop, of which two revisions are alive"
    assert told(seen, moves=1) == [f"run would leave 1 of these pods alone for now: {reason}"]


def test_pods_without_an_owner_and_pods_that_are_gone_remember_nothing() -> None:
    """The ledger knows workloads alone."""
    seen = cluster(*CALM.nodes, pod("web-0", node="n1", owner=None))
    assert told(seen, past=ledger(entry(9, ago=60, landed_on="n3"))) == []


def test_a_budget_of_other_pods_says_nothing() -> None:
    """One that lets nothing go, here."""
    closed = {"budgets": [{"namespaces": ["other"], "rate": {"maxEvictions": 0, "window": "1h"}}]}
    assert told(by=policy(disruption={"rampUp": "unlimited", **closed})) == []


def test_what_binds_run_by_default_is_told_to_a_person() -> None:
    """Ages, rates and the ramp-up that the policy does not name: whoever applies the plan goes beyond them."""
    young = cluster(
        *(node(f"n{n}") for n in range(4)), workload("web", 4),
        *(pod(f"web-{n}", node="n1", started_at=NOW - 60 * (n + 2)) for n in range(4)),
    )  # fmt: skip
    age = "default/web-0 is 120s old; the policy asks for 300s (scope.minimumAge)"
    rate = "budget disruption.rates.perWorkloadPerHour of ReplicaSet default/web"
    found = told(young, moves=4, by=Policy())
    assert found == [
        f"run would leave 3 of these pods alone for now: {age}",
        f"run would evict 2 of these 4 pods now: {rate}: 0 of 2 evictions in 1h are used",
        "run would evict 1 of these 4 pods now: its ramp-up allows 1 within 1h",
    ]


def test_earlier_evictions_count_in_the_rates_that_are_told() -> None:
    """Of the whole cluster, too."""
    past = ledger(*(entry(number, ago=60, workload="other") for number in range(10, 29)))
    assert told(past=past) == [
        "run would evict 1 of these 2 pods now: budget disruption.rates.perHour: 19 of 20 evictions in 1h are used"
    ]
    unlimited = policy(disruption={"rates": {"perHour": "unlimited"}, "rampUp": "unlimited"})
    assert told(past=past, by=unlimited) == []


def test_a_daemon_is_not_warned_of_what_binds_it() -> None:
    """Its plan keeps rates and ages already, and its moves are marked with the time of the ramp-up."""
    plan = Plan(SnapshotSummary(None, 4, 4, 0, "test"), moves=tuple(move(number) for number in range(4)))
    assert list(cautions(CALM, plan, Policy(), EMPTY_LEDGER, is_daemon=True)) == []
