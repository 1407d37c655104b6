"""First tries: nominated before anything else, then room is made; or left alone, with nothing written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import structs
from yaml import safe_dump

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.first_try import policy_of_try
from rescheduler.daemon.rounds.nominating import LASTS_SECONDS, LOOK_SECONDS, Nominating
from rescheduler.daemon.rounds.trying_first import TryingRunner
from rescheduler.daemon.rounds.world import RoundContext, RoundOutcome
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.execution.ledger.ledger_rules import LedgerRules
from rescheduler.extension_points import ClusterError, EvictionAnswer
from rescheduler.model.daemon.ledger import Ledger, Nomination
from rescheduler.model.daemon.rounds import FIRST_TRY, Occasion
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PodReference, reference_to
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import World, fragmented
from tests.unit.policy.policies import policy as written


class Killed(BaseException):
    """The process is gone: nothing of its own is cleared up."""


def policy(**fields: Any) -> Policy:
    """Execute, with first tries."""
    disruption = {"workloads": {"maxUnavailable": 4}, **fields.pop("disruption", {})}
    found = {"mode": "Execute", "autoscaler": {"firstTry": "On"}, "disruption": disruption, **fields}
    return written(safe_dump(found))


def tries(world: World, ledger: SimulatedLedger, by: Policy | None = None, **around: Any) -> TryingRunner:
    """Rounds with the real planner of first tries."""
    by = by or policy()

    def plan_first(seen: Cluster, known: Ledger, wanted: Mapping[str, Wanted], pods: frozenset[str]) -> Plan:
        left = {one.uid: "is not of this try" for one in seen.pending_pods if one.uid not in pods}
        options = CycleOptions(world.clock, is_daemon=True, ledger=known, wanted=wanted, left=left)
        return make_plan(seen, policy_of_try(by), options)

    def never(*_: Any) -> Plan:
        raise AssertionError("no round was asked for")

    context = RoundContext(world, ledger, world.clock, **around)
    return TryingRunner(context, by, never, plan_first=plan_first)


def occasion(world: World, *names: str, ago: float = 0.0) -> Occasion:
    """These pods have become unschedulable so many seconds ago."""
    pods = tuple(reference_to(world.pod(name)) for name in names)
    return Occasion(FIRST_TRY, "a pod", world.read().taken_at - ago, pods=pods)


def tried(
    world: World, ledger: SimulatedLedger | None = None, by: Policy | None = None, ago: float = 0.0
) -> RoundOutcome:
    """What came of one try for big-0."""
    return tries(world, ledger or SimulatedLedger(world.clock), by).try_first(occasion(world, "big-0", ago=ago))


def writes(world: World) -> list[tuple[str, str]]:
    """What was written, and to whom."""
    return [(write.resource, write.name) for write in world.writes]


def test_the_pod_is_nominated_before_anything_else_and_bound_in_the_end() -> None:
    """The ledger has the intent first, with its expiry; nothing of it is left when the pod has its place."""
    world, seen = World(fragmented()), list[tuple[str, ...]]()
    ledger = SimulatedLedger(world.clock)
    inner = world.nominate

    def nominate(one: PodReference, to: str) -> bool:
        seen.append(tuple(item.node for item in ledger.ledger.nominations if item.pod == one))
        return inner(one, to)

    world.nominate = nominate  # type: ignore[method-assign]
    done = tried(world, ledger)
    assert done.reason == ""
    assert writes(world)[0] == ("pods/status", "big-0")
    assert len(world.evicted) == 2
    assert world.pod("big-0").node_name == seen[0][0]
    assert all(found for found in seen[:1])
    assert ledger.ledger.nominations == ()


def test_more_evictions_than_a_try_may_make_are_left_to_a_round() -> None:
    """Two would do; with one allowed nothing is written at all."""
    world = World(fragmented())
    done = tried(world, by=policy(autoscaler={"firstTry": "On", "firstTryEvictions": 1}))
    assert "left to the autoscaler" in done.reason
    assert writes(world) == []
    assert world.pod("big-0").nominated_node is None


def test_a_pod_that_nothing_helps_is_not_touched() -> None:
    """Karpenter sees it as if we were not there."""
    world = World(cluster(node("n0", "4"), pod("web-0", "1", node="n0"), pod("big-0", "5"), workload("web", 1)))
    assert tried(world).result is None
    assert writes(world) == []


@pytest.mark.parametrize("ago", [1.1, 30.0])
def test_too_late_is_not_tried(ago: float) -> None:
    """A node may be on its way by then, and rearranging besides would be both."""
    world = World(fragmented())
    assert "too late" in tried(world, ago=ago).reason
    assert writes(world) == []


def test_a_nomination_that_came_too_late_is_taken_off_and_nobody_is_evicted() -> None:
    """The API server took its time."""
    world = World(fragmented(), api_seconds=0.8)
    done = tried(world, ago=0.5)
    assert "too late" in done.reason
    assert world.evicted == []
    assert world.pod("big-0").nominated_node is None


def test_rates_that_leave_no_room_for_the_whole_plan_leave_the_pod_alone() -> None:
    """One eviction of the two would be for nothing."""
    world = World(fragmented())
    done = tried(world, by=policy(disruption={"rates": {"perHour": 1}}))
    assert done.result is None
    assert writes(world) == []


def test_moves_that_could_only_go_one_after_the_other_are_left_to_a_round() -> None:
    """The second of a workload would wait until the first is repaid, and the pod as long for a place."""
    world = World(fragmented())
    done = tried(world, by=policy(disruption={"workloads": {"maxUnavailable": 1}}))
    assert "WorkloadBudget" in done.reason
    assert writes(world) == []


@pytest.mark.parametrize(("move_cost", "is_tried"), [(4.0, True), (6.0, False)])
def test_moves_that_cost_no_less_than_the_cheapest_node_are_not_made(move_cost: float, is_tried: bool) -> None:
    """Two moves, and a node of 10 a month that would take the pod."""
    world = World(fragmented())
    objectives = [{"name": "MakeRoom"}, {"name": "EmptyNodes", "moveCost": move_cost}]
    done = tried(world, by=policy(objectives=objectives, prices={"per": "month", "default": 10}))
    assert (done.result is not None) is is_tried
    assert bool(writes(world)) is is_tried
    assert is_tried or "left to buy" in done.reason


def test_a_step_that_fails_takes_the_nomination_off_at_once() -> None:
    """A budget refuses the second eviction for good: the autoscaler goes on."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    refused = EvictionAnswer("Forbidden", "not today")
    world.script = [refused] * 20
    done = tried(world, ledger)
    assert done.reason
    assert world.pod("big-0").node_name is None
    assert world.pod("big-0").nominated_node is None
    assert ledger.ledger.nominations == ()


def test_a_nomination_of_somebody_else_is_left_alone() -> None:
    """The scheduler has found another node by preemption meanwhile."""
    world = World(fragmented())
    big = reference_to(world.pod("big-0"))
    world.nominate(big, "n3")
    assert not world.withdraw_nomination(big, "n0")
    assert world.pod("big-0").nominated_node == "n3"
    assert world.withdraw_nomination(big, "n3")
    assert world.pod("big-0").nominated_node is None


def left_behind(world: World) -> tuple[SimulatedLedger, Nomination]:
    """What a process leaves that was killed between the nomination and the first eviction.

    The simulated scheduler takes a nomination off with each attempt in vain; that of Kubernetes 1.36 keeps it.
    """
    ledger = SimulatedLedger(world.clock)
    some = tries(world, ledger)

    def killed(*_: Any, **__: Any) -> EvictionAnswer:
        raise Killed

    evict, withdraw = world.evict, world.withdraw_nomination
    world.evict = killed  # type: ignore[method-assign]

    def gone(*_: Any) -> Any:
        raise Killed

    world.withdraw_nomination = gone  # type: ignore[method-assign]
    with pytest.raises(Killed):
        some.try_first(occasion(world, "big-0"))
    world.evict, world.withdraw_nomination = evict, withdraw  # type: ignore[method-assign]
    world.release(list(world.leftovers()))
    (nomination,) = ledger.ledger.nominations
    world.nominate(nomination.pod, nomination.node)
    return ledger, nomination


def test_killed_between_nomination_and_eviction_the_next_process_clears_up_after_expiry() -> None:
    """Until then it is warned of; the expiry is the longest grace period and a minute away."""
    world = World(fragmented())
    ledger, nomination = left_behind(world)
    assert world.pod("big-0").nominated_node == nomination.node
    grace = world.pod("web-00").spec.termination_grace_seconds
    assert nomination.expires_at == pytest.approx(nomination.at + grace + LASTS_SECONDS, abs=0.01)

    heir = tries(world, ledger)
    found = heir.clear_up(world.read())
    assert found is not None
    assert (found.standing, found.cleared) == ((nomination,), ())
    assert world.pod("big-0").nominated_node == nomination.node

    world.clock.sleep(grace + LASTS_SECONDS + 1)
    world.nominate(nomination.pod, nomination.node)
    found = heir.clear_up(world.read())
    assert found is not None
    assert found.cleared == (nomination,)
    assert world.pod("big-0").nominated_node is None
    assert ledger.ledger.nominations == ()
    assert heir.clear_up(world.read()) is None


def test_each_start_looks_once_though_first_tries_are_off_by_now() -> None:
    """The policy may have been changed meanwhile."""
    world = World(fragmented())
    ledger, nomination = left_behind(world)
    world.clock.sleep(200)
    world.nominate(nomination.pod, nomination.node)
    context = RoundContext(world, ledger, world.clock)
    found = TryingRunner(context, policy(autoscaler={}), lambda *_: Plan(snapshot=None)).clear_up(world.read())  # type: ignore[arg-type]
    assert found is not None
    assert found.cleared == (nomination,)
    assert world.pod("big-0").nominated_node is None


def test_a_pod_that_has_its_place_is_struck_from_the_ledger_in_silence() -> None:
    """It needs no nomination any more."""
    world = World(fragmented())
    ledger, _ = left_behind(world)
    bound = structs.replace(world.pod("big-0"), node_name="n0", nominated_node=None)
    world.put(bound)
    assert tries(world, ledger).clear_up(world.read()) is None
    assert ledger.ledger.nominations == ()


def test_the_ledger_is_made_before_there_is_a_hurry() -> None:
    """Where none stands yet, by whoever leads; it is not written where it stands."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    assert ledger.read().version == ""
    assert tries(world, ledger).clear_up(world.read()) is None
    made = ledger.read().version
    assert made
    assert tries(world, ledger).clear_up(world.read()) is None
    assert ledger.read().version == made


def test_a_nomination_that_an_attempt_in_vain_has_taken_off_is_made_again() -> None:
    """Else Karpenter would buy for the pod while its room is made; one of somebody else is left as it is."""
    world = World(fragmented())
    ledger, rules = SimulatedLedger(world.clock), LedgerRules()
    big, now = reference_to(world.pod("big-0")), world.read().taken_at
    item = Nomination(big, "n1", now, now + 60, "r1")
    nominating = Nominating(RoundContext(world, ledger, world.clock), rules, (item,), now)
    nominating.begin()
    assert ledger.ledger.nominations == (item,)
    world.withdraw_nomination(big, "n1")
    nominating.keep()
    assert world.pod("big-0").nominated_node is None  # it was looked a moment ago
    world.clock.sleep(LOOK_SECONDS)
    nominating.keep()
    assert world.pod("big-0").nominated_node == "n1"
    world.nominate(big, "n3")
    world.clock.sleep(LOOK_SECONDS)
    world.nominate(big, "n3")
    nominating.keep()
    assert world.pod("big-0").nominated_node == "n3"
    assert nominating.end() is None
    assert world.pod("big-0").nominated_node == "n3"
    assert ledger.ledger.nominations == ()


def test_what_cannot_be_taken_off_stays_in_the_ledger_for_others() -> None:
    """They take it off once it has run out."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    big, now = reference_to(world.pod("big-0")), world.read().taken_at
    item = Nomination(big, "n1", now, now + 60, "r1")
    nominating = Nominating(RoundContext(world, ledger, world.clock), LedgerRules(), (item,), now)
    nominating.begin()

    def unreachable(*_: Any) -> bool:
        raise ClusterError("the API server does not answer")

    world.withdraw_nomination = unreachable  # type: ignore[method-assign]
    trouble = nominating.end()
    assert trouble is not None
    assert "does not answer" in trouble
    assert ledger.ledger.nominations == (item,)
