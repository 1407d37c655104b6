"""The gate of one plan opens for everybody, in an order that can be repeated."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.execution.guidance.gates import Gates
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from tests.builders import pod
from tests.unit.execution.worlds import World, fragmented


def test_families_are_let_go_in_the_order_in_which_they_were_held() -> None:
    """Whatever the order of hashes is in this process."""

    class Asked(World):
        def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
            asked.append(namespace)
            return super().read_pods(namespace, selector)

    asked: list[str] = []
    world = Asked(fragmented())
    gates = Gates(world, world.clock, "plan", 60.0)
    names = [f"space-{number}" for number in range(12)]
    gates.close([(pod("web-0", namespace=name), None) for name in names])
    gates.end()
    assert asked == names
