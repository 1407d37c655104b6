"""The gate of guided moves: who is gated, for how long, what a gated pod holds, and how it is let go."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW, cluster, node, pod, workload

WEB, OTHER = "uid-default-web", "uid-default-other"


def swap_world() -> Cluster:
    """Two full nodes with a pod each, and an older competitor that would take either place."""
    return cluster(
        node("n1", "4"), node("n2", "4"), pod("web-0", "4", node="n1"), pod("db-0", "3", node="n2"),
        workload("web", 1), workload("db", 1), pod("rival", "3", owner=None, created_at=NOW - 500),
    )  # fmt: skip


def reference(found: Pod) -> PodReference:
    """A pod by name and uid."""
    return PodReference(found.namespace, found.name, found.uid)


def evict(world: SimulatedCluster, name: str) -> None:
    """Evict a pod as it stands."""
    standing = world.read_pod("default", name)
    assert standing is not None
    assert world.evict(reference(standing), standing.resource_version, dry_run=False).kind == "Accepted"


def replacement(world: SimulatedCluster, app: str) -> Pod:
    """The pod of an app that was not there at the start."""
    return next(item for item in world.read().pods if item.labels.get("app") == app and not item.name.endswith("-0"))


class Case(NamedTuple):
    """A pod that somebody creates, and whether it waits at the gate while ``web`` is gated."""

    name: str
    made: Pod
    is_gated: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("of the owner", pod("web-1", owner="web"), is_gated=True),
        Case("of another owner", pod("other-1", owner="other"), is_gated=False),
        Case("of nobody", pod("web-2", owner=None), is_gated=False),
        Case("on a node already", pod("web-3", owner="web", node="n1"), is_gated=False),
        Case("with a gate of its own", pod("web-4", owner="web", scheduling_gates=("example.com/a",)), is_gated=True),
    ],
    ids=lambda case: case.name,
)
def test_only_new_pods_of_the_owners_in_the_plan_are_gated(case: Case) -> None:
    """Gates of others stay, and who gated it until when is noted on the pod."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([WEB], "plan-1", 60)
    world.put(case.made)
    found = world.read_pod("default", case.made.name)
    assert found is not None
    assert (GUIDE_GATE in found.scheduling_gates) is case.is_gated
    assert set(case.made.scheduling_gates) <= set(found.scheduling_gates)
    assert ("rescheduler.dev/plan" in found.annotations) is case.is_gated
    if case.is_gated:
        assert found.annotations["rescheduler.dev/plan"] == "plan-1"
        assert found.annotations["rescheduler.dev/expires"].endswith("Z")


def test_pods_that_were_there_before_are_not_gated() -> None:
    """Admission sees creations alone: a change of an older pod passes."""
    world = SimulatedCluster(cluster(node("n1", "1"), pod("web-0", "9")))
    world.gate_replacements([WEB], "plan-1", 60)
    assert world.nominate(PodReference("default", "web-0"), "n1")
    assert world.read().pods[0].scheduling_gates == ()


@pytest.mark.parametrize(("seconds", "is_gated"), [(5, True), (11, False)])
def test_the_rule_ends_at_its_deadline(seconds: float, is_gated: bool) -> None:
    """What was gated before stays gated; later pods are not."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([WEB], "plan-1", 10)
    world.put(pod("web-1", owner="web"))
    world.clock.sleep(seconds)
    world.put(pod("web-2", owner="web"))
    world.clock.sleep(1)
    first, second = (world.read().pod_by_key[f"default/web-{number}"] for number in (1, 2))
    assert GUIDE_GATE in first.scheduling_gates
    assert first.node_name is None
    assert (GUIDE_GATE in second.scheduling_gates) is is_gated


def test_a_renewed_rule_outlives_its_first_deadline() -> None:
    """The new end counts from the renewal, and owners of an earlier call are replaced."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([WEB], "plan-1", 10)
    world.clock.sleep(8)
    world.gate_replacements([OTHER], "plan-1", 10)
    world.clock.sleep(8)
    world.put(pod("web-1", owner="web"), pod("other-1", owner="other"))
    gated = {item.name for item in world.read().pods if GUIDE_GATE in item.scheduling_gates}
    assert gated == {"other-1"}


def test_without_owners_nothing_is_gated_any_more() -> None:
    """Ending a rule that is not there is fine."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([], "plan-1", 60)
    world.gate_replacements([WEB], "plan-1", 60)
    world.gate_replacements([], "plan-1", 60)
    world.put(pod("web-1", owner="web"))
    assert world.read().pods[0].scheduling_gates == ()


def test_two_plans_do_not_share_the_rule() -> None:
    """The second is refused until the first has ended, or has run out."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([WEB], "plan-1", 10)
    with pytest.raises(ClusterError, match="plan-1"):
        world.gate_replacements([OTHER], "plan-2", 10)
    world.clock.sleep(11)
    world.gate_replacements([OTHER], "plan-2", 10)


def test_a_cluster_without_gates_says_so() -> None:
    """Neither the question nor the call pretends."""
    world = SimulatedCluster(cluster(node("n1")), settings=SimulationSettings(cannot_gate="too old"))
    assert world.can_gate() == "too old"
    with pytest.raises(ClusterError, match="too old"):
        world.gate_replacements([WEB], "plan-1", 60)
    assert SimulatedCluster(cluster()).can_gate() is None


def test_a_gated_pod_that_is_let_go_is_scheduled_at_once() -> None:
    """Its notes go with the gate; another uid and a pod that is gone are told by False."""
    world = SimulatedCluster(cluster(node("n1")))
    world.gate_replacements([WEB], "plan-1", 60)
    world.put(pod("web-1", owner="web"))
    gated = world.read().pods[0]
    world.clock.sleep(100)
    assert world.ungate(PodReference("default", "web-1", "another")) is False
    assert world.ungate(PodReference("default", "gone", "x")) is False
    assert world.ungate(reference(gated)) is True
    world.clock.sleep(0.1)
    landed = world.read().pods[0]
    assert (landed.node_name, landed.scheduling_gates, dict(landed.annotations)) == ("n1", (), {})
    assert world.ungate(reference(landed)) is True


def test_a_replacement_of_a_gated_pod_is_as_its_owner_makes_it() -> None:
    """Once the rule has ended, deleting a gated pod brings one that is not gated."""
    world = SimulatedCluster(cluster(node("n1"), pod("web-0", node="n1"), workload("web", 1)))
    world.gate_replacements([WEB], "plan-1", 60)
    evict(world, "web-0")
    world.clock.sleep(2)
    gated = replacement(world, "web")
    assert GUIDE_GATE in gated.scheduling_gates
    world.gate_replacements([], "plan-1", 60)
    world.delete_pod("default", gated.name)
    world.clock.sleep(2)
    fresh = replacement(world, "web")
    assert (fresh.scheduling_gates, dict(fresh.annotations), fresh.node_name) == ((), {}, "n1")


@pytest.mark.parametrize("is_guided", [True, False])
def test_a_swap_of_full_nodes_against_an_older_competitor(is_guided: bool) -> None:
    """The order of steps that works on a live cluster works here; without the gate the competitor wins."""
    world = SimulatedCluster(swap_world())
    n1, n2 = ("n1", (("cpu", 3000),)), ("n2", (("cpu", 4000),))
    world.clock.sleep(2)
    if is_guided:
        world.hold([HoldRequest(f"h-{to}", to, room, "", "default-scheduler", 60, "p") for to, room in (n1, n2)])
        world.gate_replacements([WEB, "uid-default-db"], "p", 60)
    evict(world, "web-0")
    evict(world, "db-0")
    world.clock.sleep(3)
    if is_guided:
        for app, to in (("web", "n2"), ("db", "n1")):
            assert world.nominate(reference(replacement(world, app)), to)
        world.release(["h-n1", "h-n2"])
        for app in ("web", "db"):
            assert world.ungate(reference(replacement(world, app)))
    world.clock.sleep(20)
    landed = {app: replacement(world, app).node_name for app in ("web", "db")}
    assert (landed == {"web": "n2", "db": "n1"}) is is_guided
    assert (world.read().pod_by_key["default/rival"].node_name is None) is is_guided
