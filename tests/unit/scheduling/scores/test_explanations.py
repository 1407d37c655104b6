"""Every score explains itself, on random clusters and for any set of feasible nodes: its numbers are those it uses."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import NodeSelectorTerm, PreferredNodeTerm, Requirement
from rescheduler.scheduling.configuration.profiles import NamedScore
from rescheduler.scheduling.scores.bin_packing import BinPacking
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity, NodeAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.scores.taint_toleration import TaintToleration
from tests.unit.scheduling.random_clusters import placements
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.scores.formulas import formulas

RANDOM = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
THREE = (("cpu", 2), ("memory", 1), ("example.com/gpu", 5))
RACK = NodeSelectorTerm((Requirement("rack", "In", ("1",)),))
PLUGINS: dict[str, Score] = {
    "least": NodeResourcesFit(),
    "least of three": NodeResourcesFit("LeastAllocated", THREE),
    "most": NodeResourcesFit("MostAllocated", THREE),
    "ratio": NodeResourcesFit("RequestedToCapacityRatio", THREE, ((0, 10), (60, 0), (100, 3))),
    "balance": NodeResourcesBalancedAllocation(),
    "balance of three": NodeResourcesBalancedAllocation(THREE, scores_change=False),
    "node affinity": NodeAffinity(),
    "added affinity": AddedNodeAffinity((PreferredNodeTerm(7, RACK),)),
    "taints": TaintToleration(),
    "pod affinity": InterPodAffinity(),
    "pod affinity, own wishes": InterPodAffinity(hard_weight=10, ignores_wishes_of_others=True),
    "spread": PodTopologySpread(),
    "spread, all keys": PodTopologySpread(defaults_need_all_keys=True),
    "images": ImageLocality(),
    "binpack": BinPacking(THREE),
    "renamed": NamedScore("NodeResourcesMostAllocated", NodeResourcesFit("MostAllocated")),
}


@pytest.mark.parametrize("name", PLUGINS)
@RANDOM
@given(placement=placements, data=st.data())
def test_the_text_ends_with_the_score(name: str, placement: Placement, data: st.DataObject) -> None:
    """For every pod and each feasible node."""
    width = placement.columns.node_count
    feasible: BoolArray = np.array(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    for pod in range(placement.columns.pod_count):
        wanted = PLUGINS[name].score(pod, placement, feasible)[feasible].tolist()
        assert usages.told_scores(PLUGINS[name], placement, pod, feasible) == wanted


@pytest.mark.parametrize("name", ["least", "most", "node affinity", "taints", "pod affinity", "spread", "ratio"])
@RANDOM
@given(placement=placements)
def test_the_formulas_come_to_what_is_printed(name: str, placement: Placement) -> None:
    """Worked out anew from the text; a share taken from 100 is truncated first, one in floating point may slip."""
    for pod in range(placement.columns.pod_count):
        for text in usages.told(PLUGINS[name], placement, pod):
            for formula in formulas(text):
                whole = ceil(formula.exact) if formula.is_reversed else floor(formula.exact)
                slips = int(name == "pod affinity")
                assert whole - slips <= formula.printed <= whole, text


@RANDOM
@given(placement=placements)
def test_some_nodes_are_told_as_among_all(placement: Placement) -> None:
    """One text for each node asked for, in the order asked; which nodes are asked for changes no text."""
    everywhere = usages.everywhere(placement)
    last = placement.columns.node_count - 1
    for plugin in PLUGINS.values():
        every = usages.told(plugin, placement, 0)
        assert plugin.explain(0, [last, 0], placement, everywhere) == [every[last], every[0]]
        assert plugin.explain(0, [], placement, everywhere) == []
