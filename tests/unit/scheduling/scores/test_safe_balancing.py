"""Room beside mean load, deviation and request."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.scheduling.scores.safe_balancing import SafeBalancing, SafeBalancingArguments
from tests.builders import cluster, node, pod
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.plain_loads import MEASURED, PlainLoads, amount_of, rounded, share
from tests.unit.scheduling.scores.random_usage import Measured, measured

RANDOM = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def arguments(**fields: object) -> SafeBalancingArguments:
    """Arguments as a file writes them."""
    return SafeBalancingArguments.model_validate(fields)


def test_the_worked_example_of_the_trimaran_design() -> None:
    """Of three nodes of 4 cores and 8 GB the third is chosen for half a core and 1 GB, with 0, 7 and 43 points."""
    loads = {"n1": (0.8, 3.2, 1.6, 4.8), "n2": (2.0, 0.04, 6.4, 0.004), "n3": (1.2, 0.4, 3.2, 0.4)}
    world = cluster(*(node(name, cpu="4", memory="8G") for name in loads), pod("new", cpu="500m", memory="1G"))
    cpu = {name: (mean / 4 * 100, deviation / 4 * 100) for name, (mean, deviation, _, _) in loads.items()}
    memory = {name: (mean / 8 * 100, deviation / 8 * 100) for name, (_, _, mean, deviation) in loads.items()}
    found = usages.usage(world, cpu, memory)
    assert usages.scores(SafeBalancing(found), usages.placement(world), "new") == {"n1": 0, "n2": 7, "n3": 43}


def plain_scores(world: Measured, number: int, confidence: float) -> list[int]:
    """Node by node."""
    loads = PlainLoads(world, number)
    asked = loads.cluster.pods[number].spec.requests
    found = []
    for place, target in enumerate(loads.cluster.nodes):
        rooms = []
        for resource in MEASURED:
            load = loads.of(place, resource)
            if load.is_known and load.base > 0:
                request = share(amount_of(asked, resource), amount_of(target.allocatable, resource))
                rooms.append((1 - min(1, load.share() + request + confidence * load.deviation_share())) * 100)
        found.append(rounded(round(min(rooms), 9)) if rooms else 0)
    return found


@RANDOM
@given(world=measured(), confidence=st.sampled_from((0.0, 1.0, 2.5)))
def test_scores_equal_the_plain_ones(world: Measured, confidence: float) -> None:
    """On random clusters with any measure, half-way through moves too."""
    plugin = SafeBalancing(world.usage, arguments(confidence=confidence))
    for number in range(world.placement.columns.pod_count):
        found = plugin.score(number, world.placement, usages.everywhere(world.placement)).tolist()
        assert found == plain_scores(world, number, confidence)
        assert usages.told_scores(plugin, world.placement, number) == found


def test_every_resource_of_the_provider_counts() -> None:
    """A busy accelerator decides, though cpu and memory are idle; naming resources leaves it out."""
    gpu = {"example.com/gpu": "4"}
    world = cluster(node("n", extended=gpu), pod("new", cpu="0", memory="0", extended={"example.com/gpu": "1"}))
    found = usages.usage(world, {"n": 0.0}, {"n": 0.0}, others={"example.com/gpu": {"n": (50.0, 10.0)}})
    place = usages.placement(world)
    assert usages.scores(SafeBalancing(found), place, "new") == {"n": 15}
    assert usages.scores(SafeBalancing(found, arguments(resources=["cpu"])), place, "new") == {"n": 100}


def test_more_confidence_wants_more_room() -> None:
    """Two deviations of 10 percent beside a load of 50 leave 30."""
    world = cluster(node("n"), pod("new", cpu="0", memory="0"))
    plugin = SafeBalancing(usages.usage(world, {"n": (50.0, 10.0)}), arguments(confidence=2))
    assert usages.scores(plugin, usages.placement(world), "new") == {"n": 30}


def test_where_only_one_resource_is_measured_it_decides() -> None:
    """Nothing is assumed of the other; with none known the score is 0."""
    world = cluster(*(node(name) for name in "abc"), pod("new", cpu="0", memory="0"))
    found = usages.usage(world, {"a": 20.0}, {"b": 30.0})
    assert usages.scores(SafeBalancing(found), usages.placement(world), "new") == {"a": 80, "b": 70, "c": 0}


@pytest.mark.parametrize("fields", [{"confidence": -1}, {"confidence": np.nan}, {"resources": []}, {"margin": 1}])
def test_wrong_arguments_are_refused(fields: dict[str, object]) -> None:
    """Negative, undefined, empty or unknown ones."""
    with pytest.raises(ValidationError):
        arguments(**fields)
