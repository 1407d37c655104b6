"""The embedded ReplicaSet controller lets pods go, takes them again, and deletes those too many, as the real one."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.plan.detachment import Detachment, controller_as_written
from rescheduler.model.plan.plan import reference_to
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.execution.surge.scenes import HASH, shop, workloads
from tests.unit.execution.worlds import World

OUT = Detachment(HASH, "h1", "p", "")


def test_a_pod_that_is_taken_out_is_replaced_and_serves_on() -> None:
    """It answers for the Service, the budget counts it, and snapshots show it as its workload's."""
    world = World(shop(1))
    web = world.pod("web-0")
    assert world.detach(reference_to(web), web.resource_version, OUT)
    world.settle()
    assert len(world._store.members("rs-web")) == 1
    [service] = world.read_endpoints("default")
    assert len(service.ready) == 2
    [budget] = world.budgets_in("default")
    assert (budget.current_healthy, budget.disruptions_allowed) == (2, 1)
    shown = world.read()
    workload = shown.workload_of(shown.pod_by_key["default/web-0"])
    assert workload is not None
    assert workload.kind == "Deployment"
    assert [item.name for item in world.read_pods("default", shown.workloads[0].selector)] != ["web-0"]


@pytest.mark.parametrize("seconds", [None, 1.0])
def test_given_back_it_is_taken_again_and_one_too_many_goes(seconds: float | None) -> None:
    """An unready one first; of two Ready ones the youngest: each time the pod that came in its place."""
    world = World(shop(1), startup_seconds=seconds)
    web = world.pod("web-0")
    world.detach(reference_to(web), web.resource_version, OUT)
    world.settle()
    assert len(world.read().pods) == 2
    assert world.give_back(reference_to(web))
    world.settle()
    assert [item.name for item in world.read().pods] == ["web-0"]
    assert controller_as_written(world._store.pods["default/web-0"]) is not None


def test_a_pod_that_has_changed_is_not_taken_out_and_one_that_is_not_out_not_given_back() -> None:
    """As with the real patches."""
    world = World(shop(1))
    web = world.pod("web-0")
    assert not world.detach(reference_to(web), "0", OUT)
    assert not world.detach(structs.replace(reference_to(web), uid="another"), web.resource_version, OUT)
    assert not world.give_back(reference_to(web))
    assert world.writes == ()


@pytest.mark.parametrize("is_above", [True, False])
def test_of_the_pods_of_a_deployment_one_in_company_goes_whoever_is_younger(is_above: bool) -> None:
    """Company of an older ReplicaSet of it counts; a ReplicaSet without a Deployment does not look where pods stand."""
    [*nodes, child, top] = [node("n0", "8"), node("n1", "8"), *workloads(2)]
    older = structs.replace(child, name="old", uid="rs-old", selector=selector(app="old"))
    if not is_above:
        child = structs.replace(child, owner=None)
    own, other = (OwnerReference("ReplicaSet", name, f"rs-{name}") for name in ("web", "old"))
    labels = {"app": "web", HASH: "h1"}
    world = World(cluster(
        *nodes, child, older, top,
        pod("web-0", "1", node="n0", labels=labels, owners=(own,), created_at=NOW - 5000.0),
        pod("web-1", "1", node="n1", labels=labels, owners=(own,), created_at=NOW - 600.0),
        pod("web-2", "1", node="n1", labels={"app": "none"}, owners=(), created_at=NOW - 5000.0),
        *(pod(f"old-{at}", "1", node="n0", labels={"app": "old"}, owners=(other,)) for at in (0, 1)),
    ))  # fmt: skip
    world._store.put_pod(structs.replace(world._store.pods["default/web-2"], labels=labels))
    world.settle()
    left = [item.name for item in world.read().pods if item.name.startswith("web")]
    assert left == (["web-1", "web-2"] if is_above else ["web-0", "web-2"])
