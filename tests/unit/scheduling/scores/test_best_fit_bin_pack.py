"""Spread first, packing second."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.scheduling.scores.best_fit_bin_pack import BestFitBinPack, BestFitBinPackArguments, combined, scaled
from rescheduler.scheduling.scores.target_load_packing import TargetLoadPacking
from tests.builders import cluster, node, pod, selector
from tests.unit.scheduling.scores import usages

IDLE = (usages.container(limit=0),)
SPREAD = (TopologySpreadConstraint("rack", 1, "ScheduleAnyway", selector(app="new")),)
points = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100), st.booleans()), min_size=1, max_size=8)


def test_the_five_rows_of_the_trimaran_design() -> None:
    """Spread 100, 67, 100, 82, 0 and packing 35, 75, 80, 90, 90 make 96, 67, 100, 83, 0."""
    both = combined(np.array([100, 67, 100, 82, 0]), np.array([35, 75, 80, 90, 90]))
    assert both.tolist() == [103500, 72025, 108000, 89380, 0]
    assert scaled(both, np.ones(5, dtype=np.bool_)).tolist() == [96, 67, 100, 83, 0]


@given(rows=points)
def test_scaling_equals_the_plain_rule(rows: list[tuple[int, int, bool]]) -> None:
    """Nearest percent of the best feasible node; spread goes before packing."""
    both = combined(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    feasible = np.array([row[2] for row in rows])
    found = scaled(both, feasible).tolist()
    most = max((row[0] * (1000 + row[1]) for row in rows if row[2]), default=0)
    for (spread, packing, is_feasible), score in zip(rows, found, strict=True):
        if is_feasible:
            exact = 100 * spread * (1000 + packing) / most if most else 0
            assert abs(score - exact) <= 0.5
            assert 0 <= score <= 100


def racks() -> tuple[object, BestFitBinPack]:
    """Three nodes in two racks, a pod of the workload on one, loads of 25, 50 and 50 percent."""
    world = cluster(
        node("a", labels={"rack": "1"}), node("b", labels={"rack": "2"}), node("c", labels={"rack": "2"}),
        pod("new-1", containers=IDLE, topology_spread=SPREAD), pod("new-2", node="b", containers=IDLE),
        pod("lone", owner=None, labels={}, containers=IDLE),
    )  # fmt: skip
    plugin = BestFitBinPack(usages.usage(world, {"a": 25.0, "b": 50.0, "c": 50.0}))
    return world, plugin


def test_a_hot_node_never_beats_a_better_spread_one() -> None:
    """The empty rack wins though its node is packed less well."""
    world, plugin = racks()
    place = usages.placement(world)  # type: ignore[arg-type]
    found = usages.scores(plugin, place, "new-1")
    assert found == {"a": 100, "b": 0, "c": 0}
    assert usages.told(plugin, place, "new-1")[0] == (
        "packing: 1000m cpu measured, +0m of pods that metrics lack, 0m of the pod, of 4000m: 25.0 %, "
        "up to the target of 50 %: 25.0 + 50 = 75; spread 100; 1000 x 100 + 100 x 75 = 107500, "
        "at most 107500 on a feasible node; 100 x 107500 / 107500 = 100"
    )
    assert usages.told_scores(plugin, place, "new-1") == [100, 0, 0]


def test_a_pod_without_constraints_is_packed_alone() -> None:
    """Nothing to spread by: the packing score is the score, also where combining is switched off."""
    world, plugin = racks()
    place = usages.placement(world)  # type: ignore[arg-type]
    packing = usages.scores(TargetLoadPacking(plugin.usage, plugin.arguments), place, "lone")
    assert usages.scores(plugin, place, "lone") == packing == {"a": 75, "b": 100, "c": 100}
    assert all(text.startswith("nothing to spread by; ") for text in usages.told(plugin, place, "lone"))
    assert usages.told_scores(plugin, place, "lone") == [75, 100, 100]
    alone = BestFitBinPackArguments(combine_with_spread=False)
    assert usages.scores(BestFitBinPack(plugin.usage, alone), place, "new-1") == packing


def test_infeasible_nodes_set_no_standard() -> None:
    """The best feasible node scores 100 whatever an infeasible one would have."""
    world, plugin = racks()
    place = usages.placement(world)  # type: ignore[arg-type]
    found = plugin.score(usages.index(place, "new-1"), place, np.array([False, True, True]))
    assert found[1:].tolist() == [100, 100]
    told = usages.told(plugin, place, "new-1", np.array([False, True, True]))
    assert all(text.endswith(" on a feasible node; 100 x 110000 / 110000 = 100") for text in told), told


def test_another_target_needs_the_general_form() -> None:
    """The design's own form knows 50 alone."""
    with pytest.raises(ValidationError, match="choose General"):
        BestFitBinPackArguments.model_validate({"targetUtilization": 60})
    assert BestFitBinPackArguments.model_validate({"targetUtilization": 60, "form": "General"}).target_utilization == 60
