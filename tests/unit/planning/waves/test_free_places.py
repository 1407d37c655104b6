"""Pending pods that fit already are told where the scheduler will put them."""

from __future__ import annotations

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.columns.placement import Placement
from rescheduler.model.plan.plan import Plan, Status
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.queue import schedule_pending
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod


def planned(*objects: object) -> tuple[Plan, dict[str, str]]:
    """The plan, and where the scheduler's queue would put each pending pod."""
    world = cluster(*objects)  # type: ignore[arg-type]
    model = DEFAULTS.model(world)
    queue = schedule_pending(model, Placement(model.columns))
    return make_plan(world, Policy(), CycleOptions(SimulatedClock())), {
        world.pods[item.pod].name: world.nodes[item.node].name for item in queue if item.node >= 0
    }


def test_places_are_those_of_the_schedulers_queue() -> None:
    """Spread out as the scheduler would, not packed tightly; still without a move."""
    plan, queue = planned(
        node("a"), node("b"), node("c"), pod("w", "2", node="a"), *(pod(f"p{number}") for number in range(3))
    )
    assert {item.pod.name: item.node for item in plan.placements} == queue
    assert set(queue.values()) == {"b", "c"}
    assert (plan.moves, plan.objectives[0].status) == ((), Status.OPTIMAL)


def test_where_the_schedulers_order_leaves_somebody_out_the_planners_places_stay() -> None:
    """The queue would put the small pod on the large node, where the large one must go: all are placed all the same."""
    plan, queue = planned(node("a", "4"), node("b", "2"), pod("small", "1500m", created_at=0.0), pod("z", "4"))
    assert queue == {"small": "a"}
    assert {item.pod.name: item.node for item in plan.placements} == {"small": "b", "z": "a"}
