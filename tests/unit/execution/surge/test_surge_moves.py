"""Surges are carried out in the embedded cluster: never one Ready pod too few, and whoever changes his mind wins."""

from __future__ import annotations

import pytest

from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop, surger, surging, told
from tests.unit.execution.worlds import World


def world_of(replicas: int = 1, **settings: object) -> tuple[World, ReadyWatch]:
    """A cluster, and a watch of its Ready pods."""
    world = World(shop(replicas), **settings)
    return world, ReadyWatch(world)


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
@pytest.mark.parametrize("replicas", [1, 5])
def test_the_replacement_is_ready_before_the_old_pod_goes(replicas: int, guidance: str) -> None:
    """Under a budget that allows nobody to be missing; on the planned node, and nothing of ours stays."""
    world, watch = world_of(replicas)
    names = [f"web-{number}" for number in range(replicas)]
    result = surger(world, guidance=guidance).carry_out(surging(world.read(), *names))
    assert result.message == ""
    assert told(result) == dict.fromkeys(names, ("Landed", "n1"))
    world.settle()
    assert watch.fewest == replicas
    assert world.evicted == names
    assert {item.node_name for item in world.read().pods} == {"n1"}
    assert len(world.read().pods) == replicas
    assert left_behind(world) == []


def test_without_the_two_numbers_nothing_is_moved() -> None:
    """A plan file alone, written by whomever, does not switch surges on."""
    world, _ = world_of()
    result = surger(world)
    result._settings = result._settings._replace(surge=None)
    outcome = result.carry_out(surging(world.read(), "web-0"))
    assert "nobody has said how long a surge may take" in outcome.message
    assert told(outcome) == {"web-0": ("NotAttempted", None)}
    assert [write for write in world.writes if write.resource == "pods"] == []
