"""What was read anew takes the place of what a snapshot held, and nothing else changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity, counted_with, owners_of, patched
from tests.builders import budget, cluster, node, pod, selector, workload

MOVE = Move(PodReference("default", "web-0", "uid-default-web-0"), "n0", "n1", 1, "MakeRoom", "because")


def start() -> Cluster:
    """A workload on three nodes, another one, and one of another namespace."""
    return cluster(
        *(node(f"n{n}") for n in range(3)), *(pod(f"web-{n}", node=f"n{n}") for n in range(3)),
        pod("db-0", node="n1"), pod("db-1", node="n2"), pod("far-0", node="n1", namespace="far"),
        pod("far-1", node="n2", namespace="far"), workload("web", 3), workload("db", 2), budget("web", 1),
        budget("far", 1, namespace="far"),
    )  # fmt: skip


def around(world: Cluster, **fields: object) -> Vicinity:
    """What narrow reads would show of a world."""
    counted = counted_with(world, world.pod_by_key["default/web-0"], world.budgets)
    assert counted == (selector(app="web"),)
    pods = [item for item in world.pods if item.node_name == "n1" or item.labels == {"app": "web"}]
    nodes = [item for item in world.nodes if item.name in ("n0", "n1")]
    budgets = [item for item in world.budgets if item.namespace == "default"]
    workloads = [item for item in world.workloads if item.name == "web"]
    found = Vicinity(tuple(pods), tuple(budgets), tuple(nodes), tuple(workloads))
    return found._replace(**fields)  # type: ignore[arg-type]


def test_what_did_not_change_stays() -> None:
    """But for the time at which it was read."""
    world = start()
    now = patched(world, MOVE, around(world), 77.0)
    assert (now.pods, now.nodes, now.budgets, now.workloads) == (
        world.pods, world.nodes, world.budgets, world.workloads,
    )  # fmt: skip
    assert now.taken_at == 77.0


def changed(found: Pod, how: str) -> Pod | None:
    """A pod to which something happened."""
    return {
        "gone": None,
        "unready": structs.replace(found, is_ready=False),
        "bound elsewhere": structs.replace(found, node_name="n2"),
        "another": structs.replace(found, uid="another"),
    }[how]


@given(
    st.dictionaries(
        st.sampled_from(["default/web-0", "default/web-1", "default/web-2", "default/db-0", "far/far-0"]),
        st.sampled_from(["gone", "unready", "bound elsewhere", "another"]),
    )
)
def test_it_becomes_what_there_is(changes: dict[str, str]) -> None:
    """Whatever happened to pods that a move depends on: the snapshot shows them as a whole new one would."""
    world = start()
    after = [changed(item, changes[item.key]) if item.key in changes else item for item in world.pods]
    there = cluster(*world.nodes, *world.workloads, *world.budgets, *(item for item in after if item is not None))
    selected = [item for item in there.pods if item.node_name == "n1" or item.labels == {"app": "web"}]
    now = patched(world, MOVE, around(world, pods=tuple(selected)), 0.0)
    # Who left the destination and is not counted with the pod is not known any more, wherever it went.
    lost = {item.key for item in there.pods if item.labels != {"app": "web"} and item.node_name != "n1"}
    lost &= {item.key for item in world.pods if item.node_name == "n1"}
    assert list(now.pods) == [item for item in there.pods if item.key not in lost]


def test_what_was_asked_for_and_is_not_there_is_gone() -> None:
    """Nodes, budgets and owners; those of others stay."""
    world = start()
    now = patched(world, MOVE, Vicinity(), 0.0)
    assert [item.name for item in now.nodes] == ["n2"]
    assert [item.key for item in now.budgets] == ["far/far"]
    assert [item.key for item in now.workloads] == ["ReplicaSet default/db"]
    assert [item.key for item in now.pods] == ["default/db-1", "far/far-1"]


def test_pods_of_the_whole_chain_of_owners_count() -> None:
    """The Deployment's selector, of all its ReplicaSets; and that of each budget which covers the pod."""
    owner = OwnerReference("Deployment", "top", "uid-default-top")
    top = workload("top", 3, kind="Deployment", selector=selector(tier="front"))
    labels = {"app": "web", "tier": "front", "zone": "a"}
    world = cluster(
        node("n0"), pod("web-0", node="n0", labels=labels), workload("web", 3, owner=owner), top,
        budget("zone", 1, selector=selector(zone="a")), budget("other", 1),
    )  # fmt: skip
    [found] = world.pods
    assert [item.kind for item in owners_of(world, found)] == ["ReplicaSet", "Deployment"]
    assert counted_with(world, found, world.budgets) == (selector(tier="front"), selector(zone="a"))


def test_an_owner_that_nobody_knows_makes_the_whole_namespace_count() -> None:
    """Nothing tells its pods from others."""
    world = cluster(node("n0"), pod("web-0", node="n0"))
    assert counted_with(world, world.pods[0], ()) == (None,)
    assert owners_of(world, world.pods[0]) == ()
    alone = cluster(node("n0"), pod("web-0", node="n0", owner=None))
    assert counted_with(alone, alone.pods[0], ()) == ()
