"""The embedded ReplicaSet controller lets pods go, takes them again, and deletes those too many, as the real one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.components.adoption import surplus
from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.plan.detachment import Detachment, controller_as_written
from rescheduler.model.plan.plan import reference_to
from tests.builders import NOW, pod
from tests.unit.execution.surge.scenes import HASH, shop
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


@pytest.mark.parametrize(
    ("loses", "stays"),
    [
        (pod("a"), pod("b", node="n")),
        (pod("a", node="n", phase="Pending", is_ready=False), pod("b", node="n", is_ready=False)),
        (pod("a", node="n", is_ready=False), pod("b", node="n")),
        (pod("a", node="n"), pod("b", node="n", annotations={DELETION_COST: "5"})),
        (pod("a", node="n", annotations={DELETION_COST: "-5"}), pod("b", node="n", annotations={DELETION_COST: "x"})),
        (pod("a", node="n", ready_at=NOW), pod("b", node="n", ready_at=NOW - 60.0)),
        (pod("a", node="n", restart_count=3), pod("b", node="n")),
        (pod("a", node="n", created_at=NOW), pod("b", node="n", created_at=NOW - 60.0)),
    ],
)
def test_which_pod_goes(loses: Any, stays: Any) -> None:
    """In the order of the real controller, whichever comes first."""
    assert surplus([loses, stays], 1) == surplus([stays, loses], 1) == [loses]
    assert surplus([loses, stays], 2) == []


def test_of_pods_alike_one_with_a_sibling_on_its_node_goes() -> None:
    """Doubled-up pods come before those that are alone."""
    pods = [pod("a", node="n"), pod("b", node="m"), pod("c", node="m")]
    assert surplus(pods, 2)[0].node_name == "m"
