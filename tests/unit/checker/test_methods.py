"""How pods are moved, as the checker sees it: by its own rules, whatever the planner thought."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace as with_changes

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move
from tests.builders import cluster, node, pod, selector
from tests.unit.checker.cases import anything_goes, broken, move, plan
from tests.unit.disruption.surge_cases import deployment

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def world(replicas: int = 1, *others: Any, max_surge: int | str | None = None, **fields: Any) -> Cluster:
    """A Deployment on n1, which shares a zone with n2 and none with n3."""
    nodes = (node("n1", "8", zone="a"), node("n2", "8", zone="a"), node("n3", "8", zone="b"))
    return cluster(*nodes, *deployment("web", ["n1"] * replicas, max_surge=max_surge, **fields), *others)


def may(seen: Cluster, method: MoveMethod | None) -> Eligibility:
    """All pods may be moved by one method."""
    methods = {} if method is None else dict.fromkeys(range(len(seen.pods)), method)
    return with_changes(anything_goes(seen), methods=methods)


def surge(number: int, to: str, wave: int = 1, **fields: Any) -> Move:
    """A replica moves by surge."""
    return move(f"web-h1-{number}", "n1", to, wave, **{"method": MoveMethod.SURGE, **fields})


def wrong(seen: Cluster, *moves: Move, by: MoveMethod | None = MoveMethod.SURGE) -> set[str]:
    """The rules that such a plan breaks."""
    return broken(seen, plan(*moves), may(seen, by))


def test_a_pod_is_moved_by_the_method_that_it_may_be_moved_by() -> None:
    """Neither by surge where an eviction was judged, nor the other way round."""
    seen = world()
    assert wrong(seen, surge(0, "n2")) == set()
    assert wrong(seen, surge(0, "n2"), by=None) == {"Method"}
    assert wrong(seen, surge(0, "n2", method=MoveMethod.EVICT)) == {"Method"}
    assert wrong(seen, surge(0, "n2", method=MoveMethod.MIGRATE)) == {"Method"}


@pytest.mark.parametrize(("max_surge", "at_once"), [(None, 1), (0, 1), (1, 1), (2, 2), ("50%", 2), ("75%", 3), (9, 4)])
def test_as_many_in_one_wave_as_a_rollout_may_add(max_surge: int | str | None, at_once: int) -> None:
    """Counted from the Deployment itself, whatever groups say."""
    seen = world(4, max_surge=max_surge)
    for number in range(1, 5):
        moves = [surge(one, "n2") for one in range(number)]
        assert wrong(seen, *moves) == (set() if number <= at_once else {"Method"})
    assert wrong(seen, *(surge(number, "n2", number + 1) for number in range(4))) == set()


def test_only_pods_of_replica_sets_surge() -> None:
    """A StatefulSet makes no second pod of the name."""
    seen = cluster(node("n1"), node("n2"), pod("web-h1-0", node="n1", kind="StatefulSet"))
    assert wrong(seen, surge(0, "n2")) == {"Method"}


def test_never_in_a_wave_whose_pods_leave_before_they_arrive() -> None:
    """That is what a surge is there to avoid."""
    seen = world(1, pod("b-0", node="n2"))
    moves = [surge(0, "n2", evict_first=True, needs_guidance=True)]
    assert "Method" in wrong(seen, *moves)


def test_the_old_copy_stands_in_the_way_by_anti_affinity() -> None:
    """In its zone, not on its node; an eviction is judged as if the pod had left."""
    in_zone, on_node = (world(1, anti_affinity=(PodAffinityTerm(key, selector(app="web")),)) for key in (ZONE, HOST))
    assert wrong(in_zone, surge(0, "n2")) == {"InterPodAffinity"}
    assert wrong(in_zone, surge(0, "n3")) == set()
    assert wrong(on_node, surge(0, "n2")) == set()
    assert wrong(in_zone, surge(0, "n2", method=MoveMethod.EVICT), by=None) == set()


def test_the_old_copy_counts_for_spread() -> None:
    """Two in a zone and none in the other are one too many."""
    even = TopologySpreadConstraint(ZONE, 1, selector=selector(app="web"))
    seen = world(1, topology_spread=(even,))
    assert wrong(seen, surge(0, "n2")) == {"PodTopologySpread"}
    assert wrong(seen, surge(0, "n3")) == set()
    assert wrong(seen, surge(0, "n2", method=MoveMethod.EVICT), by=None) == set()


def test_the_old_copy_attracts_its_own_kind() -> None:
    """The only one of its kind may go anywhere once it has left; beside itself it is no longer the first."""
    near = world(1, affinity=(PodAffinityTerm(ZONE, selector(app="web")),))
    assert wrong(near, surge(0, "n2")) == set()
    assert wrong(near, surge(0, "n3")) == {"InterPodAffinity"}
    assert wrong(near, surge(0, "n3", method=MoveMethod.EVICT), by=None) == set()


def test_of_a_node_one_pod_migrates_at_once() -> None:
    """Whoever owns them."""
    seen = world(2)
    both = [surge(number, "n2", method=MoveMethod.MIGRATE) for number in range(2)]
    assert wrong(seen, *both, by=MoveMethod.MIGRATE) == {"Method"}
    assert wrong(seen, both[0], with_changes(both[1], wave=2), by=MoveMethod.MIGRATE) == set()
