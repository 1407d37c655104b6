"""A cycle: the world stands still, limits are shared, and the API server's answer counts."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.descheduler.cycle import CycleLimits, quality
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import ContainerResources
from tests.builders import budget, cluster, node, pod, taint
from tests.unit.descheduler.walking import victims, walk

DEDICATED = taint("dedicated", "db")
TAINTS = "RemovePodsViolatingNodeTaints"


def tainted(pods: int, **fields: object) -> Cluster:
    """A tainted node with so many pods that do not tolerate it, and an empty one."""
    standing = [pod(f"web-{number}", node="a", labels={"app": "web"}, **fields) for number in range(pods)]
    return cluster(node("a", cpu="64", taints=[DEDICATED]), node("b"), *standing)


def test_with_one_ready_node_nothing_is_done() -> None:
    """A node that is not ready does not count; a cordoned one does."""
    lonely = cluster(node("a", taints=[DEDICATED]), node("b", is_ready=False), pod("web-1", node="a"))
    result = walk(lonely, TAINTS)
    assert result.chosen == ()
    assert "fewer than 2" in result.runs[0].message
    cordoned = cluster(node("a", taints=[DEDICATED]), node("b", is_unschedulable=True), pod("web-1", node="a"))
    assert victims(cordoned, TAINTS) == ["web-1"]


def test_limits_bind_in_all_by_node_and_by_namespace() -> None:
    """Each by itself; a namespace's limit ends nothing, the walk goes on with others."""
    assert len(victims(tainted(4), TAINTS)) == 4
    assert len(victims(tainted(4), TAINTS, limits=CycleLimits(total=3))) == 3
    assert len(victims(tainted(4), TAINTS, limits=CycleLimits(per_node=2))) == 2
    several = cluster(
        node("a", taints=[DEDICATED]),
        node("b"),
        *(pod(f"web-{number}", node="a") for number in range(3)),
        pod("other-1", node="a", namespace="zebra"),
    )
    assert victims(several, TAINTS, limits=CycleLimits(per_namespace=1)) == ["web-0", "other-1"]


def test_a_budget_is_spent_within_a_cycle_and_a_refusal_says_so() -> None:
    """The API server counts down from what the budget allowed at the start."""
    world = tainted(3)
    guarded = cluster(*world.nodes, *world.pods, budget("web", 1))
    result = walk(guarded, TAINTS)
    assert [chosen.refusal is None for chosen in result.chosen] == [True, False, False]
    assert result.runs[0].evictions == 1
    assert result.chosen[1].refusal == "PodDisruptionBudget web allows no disruption"


def test_two_budgets_over_one_pod_are_refused() -> None:
    """As the API server refuses them."""
    world = tainted(1)
    result = walk(cluster(*world.nodes, *world.pods, budget("web", 1), budget("too", 1, app="web")), TAINTS)
    assert result.chosen[0].refusal == "two PodDisruptionBudgets select it: web and too"


def test_an_unready_pod_goes_free_where_its_budget_is_healthy() -> None:
    """Its departure takes nothing from the budget."""
    world = tainted(2, is_ready=False)
    assert len(victims(cluster(*world.nodes, *world.pods, budget("web", 0)), TAINTS)) == 2


def test_a_victim_holds_its_room_to_the_end_of_the_cycle() -> None:
    """Two pods fit one hole by themselves, and both are evicted: nothing is reserved."""
    world = cluster(
        node("a", cpu="4", taints=[DEDICATED]), node("b", cpu="1"), pod("x-1", node="a"), pod("y-1", node="a")
    )
    assert victims(world, TAINTS, evictor={"nodeFit": True}) == ["x-1", "y-1"]
    full = cluster(*world.nodes, *world.pods, pod("z-1", node="b"))
    assert victims(full, TAINTS, evictor={"nodeFit": True}) == []


def test_who_is_protected() -> None:
    """Bare, DaemonSet's, critical, terminating and mirror pods stay; the annotation lets any of them go."""
    mark = {"descheduler.alpha.kubernetes.io/evict": "false"}
    kept = [
        pod("bare-1", node="a", owner=None),
        pod("daemon-1", node="a", kind="DaemonSet"),
        pod("critical-1", node="a", priority=2_000_000_000),
        pod("going-1", node="a", deletion_at=1.0),
        pod("mirror-1", node="a", annotations={"kubernetes.io/config.mirror": "x"}),
    ]
    assert victims(cluster(*tainted(0).nodes, *kept), TAINTS) == []
    marked = [pod("bare-1", node="a", owner=None, annotations=mark)]
    assert victims(cluster(*tainted(0).nodes, *marked), TAINTS) == ["bare-1"]


def test_evictor_narrows_by_threshold_replicas_age_and_mark() -> None:
    """Each argument by itself."""
    assert victims(tainted(2, priority=10), TAINTS, threshold=10) == []
    assert len(victims(tainted(2, priority=9), TAINTS, threshold=10)) == 2
    assert victims(tainted(2), TAINTS, evictor={"minReplicas": 3}) == []
    assert len(victims(tainted(3), TAINTS, evictor={"minReplicas": 3})) == 3
    assert victims(tainted(1), TAINTS, evictor={"minPodAge": "48h"}) == []
    assert len(victims(tainted(1), TAINTS, evictor={"minPodAge": "1h"})) == 1
    wish = {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}
    assert victims(tainted(1, annotations=wish), TAINTS, evictor={"noEvictionPolicy": "Mandatory"}) == []
    assert len(victims(tainted(1, annotations=wish), TAINTS)) == 1


def test_pods_without_budget_protects_everybody() -> None:
    """Upstream never fills its list of budgets, so that the protection holds for pods that have one too."""
    world = tainted(2)
    guarded = cluster(*world.nodes, *world.pods, budget("web", 2))
    assert victims(guarded, TAINTS, evictor={"podProtections": {"extraEnabled": ["PodsWithoutPDB"]}}) == []


def test_quality_of_service() -> None:
    """By cpu and memory of all containers, as kubelets see it."""
    small, whole = (("cpu", 100), ("memory", 1)), (("cpu", 200), ("memory", 2))
    assert quality(pod("a-1", containers=(ContainerResources(),))) == 0
    assert quality(pod("a-1", containers=(ContainerResources(small, whole),))) == 1
    assert quality(pod("a-1", containers=(ContainerResources(whole, whole),))) == 2
    assert quality(pod("a-1", containers=(ContainerResources(whole, whole), ContainerResources()))) == 1


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12),
    st.none() | st.integers(0, 4),
    st.none() | st.integers(0, 3),
    st.integers(0, 3),
)
def test_no_limit_and_no_budget_is_ever_exceeded(
    places: list[tuple[int, int]], total: int | None, per_node: int | None, allowed: int
) -> None:
    """Whatever stands where: nobody is evicted twice, limits hold, and the API server allows each."""
    names = "abc"
    pods = [
        pod(f"app{app}-{number}", node=names[place], labels={"app": f"app{app}"})
        for number, (place, app) in enumerate(places)
    ]
    nodes = [node(name, taints=[DEDICATED] if name != "c" else ()) for name in names]
    world = cluster(*nodes, *pods, *(budget(f"app{app}", allowed) for app in range(3)))
    result = walk(world, TAINTS, limits=CycleLimits(per_node, None, total))
    gone = [chosen.pod for chosen in result.chosen if not chosen.refusal]
    assert len({item.key for item in gone}) == len(gone)
    assert total is None or len(gone) <= total
    for name in names:
        assert per_node is None or sum(item.node_name == name for item in gone) <= per_node
    for app in range(3):
        assert sum(item.labels["app"] == f"app{app}" for item in gone) <= allowed
