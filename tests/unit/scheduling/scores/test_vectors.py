"""All reproducible score vectors of a table kept beside the project, family by family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.unit.scheduling.scores import vectors_of_risk, vectors_of_scheduler, vectors_of_usage
from tests.unit.scheduling.scores.vector_file import missing_reason, vectors

FAMILIES: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "BestFitBinPack+PodTopologySpread": vectors_of_usage.packing_with_spread,
    "LoadVariationRiskBalancing": vectors_of_usage.load_variation,
    "LoadWatcher": vectors_of_scheduler.load_watcher,
    "LoadWatcher/Datadog": vectors_of_scheduler.provider,
    "LoadWatcher/SignalFx": vectors_of_scheduler.provider,
    "LoadWatcher/metrics-server": vectors_of_scheduler.provider,
    "LowRiskOverCommitment": vectors_of_risk.low_risk,
    "LowRiskOverCommitment/beta": vectors_of_risk.beta,
    "NodeResourcesBalancedAllocation": vectors_of_scheduler.balanced,
    "NodeResourcesFit/LeastAllocated": vectors_of_scheduler.least_allocated,
    "PodResources": vectors_of_scheduler.pod_resources,
    "PodTopologySpread": vectors_of_scheduler.spread,
    "RequestedToCapacityRatio": vectors_of_scheduler.ratio,
    "SafeBalancing": vectors_of_usage.safe_balancing,
    "TargetLoadPacking": vectors_of_usage.target_load_packing,
    "Trimaran/podcache": vectors_of_usage.pod_memory,
    "Trimaran/resourcestats": vectors_of_usage.resource_stats,
    "VolcanoUsage": vectors_of_risk.volcano_usage,
    "VolcanoUsage/estimator": vectors_of_risk.estimator,
    "VolcanoUsage/proposal": vectors_of_risk.proposal,
    "VolcanoUsage/shadow": vectors_of_risk.shadow,
}
NOT_SCORES: Final = "loadwatcher-http-"
"""Status codes of a REST server: recorded, not reproducible from inputs, and no matter of scores."""

FOUND: Final = [vector for vector in vectors() if not vector["id"].startswith(NOT_SCORES)]
ABSENT: Final = pytest.mark.skipif(not FOUND, reason=missing_reason())
CASES: Final = [pytest.param(vector, id=vector["id"]) for vector in FOUND] or [pytest.param({}, id="no-table")]


@ABSENT
@pytest.mark.parametrize("vector", CASES)
def test_vector(vector: dict[str, Any]) -> None:
    """The package gives the expected numbers for the vector's inputs."""
    FAMILIES[vector["plugin"]](vector)


@ABSENT
def test_every_reproducible_vector_is_fed_to_the_package() -> None:
    """None is left out but those that are only recorded, and each name stands for one vector."""
    reproducible = {vector["id"] for vector in vectors() if vector["check"] == "computed"}
    assert reproducible <= {vector["id"] for vector in FOUND}
    assert len({vector["id"] for vector in FOUND}) == len(FOUND)
