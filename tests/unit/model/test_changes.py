"""How a placement differs from its snapshot, and the sums that follow."""

from __future__ import annotations

from hypothesis import given, settings

from rescheduler.model.arrays import NOWHERE
from rescheduler.model.changes import changes
from rescheduler.model.demand import trimaran_demands
from rescheduler.model.placed_totals import placed_totals
from rescheduler.model.placement import Placement
from tests.unit.plugins.random_clusters import placements

RANDOM = settings(max_examples=150, deadline=None)


@RANDOM
@given(placement=placements)
def test_applying_the_changes_gives_the_placement(placement: Placement) -> None:
    """Home and departures and arrivals together are where each pod stands, and the pod left out is nowhere."""
    columns = placement.columns
    for without in (NOWHERE, *range(columns.pod_count)):
        found = changes(placement, without)
        stands = {(number, int(home)) for number, home in enumerate(columns.initial_node_of) if home != NOWHERE}
        left = set(zip(found.left.tolist(), found.left_nodes.tolist(), strict=True))
        arrived = set(zip(found.arrived.tolist(), found.arrived_nodes.tolist(), strict=True))
        assert left <= stands
        assert not arrived & stands
        wanted = {
            (number, place)
            for number in range(columns.pod_count)
            if number != without
            for place in placement.places(number)
        }
        assert (stands - left) | arrived == wanted


@RANDOM
@given(placement=placements)
def test_totals_are_sums_over_the_pods_of_each_node(placement: Placement) -> None:
    """A pod that moves counts at both ends, the pod left out nowhere."""
    columns = placement.columns
    by_shape = columns.facts(trimaran_demands)
    for without in (NOWHERE, *range(columns.pod_count)):
        found = placed_totals(placement, trimaran_demands, without)
        wanted = [[0] * columns.node_count for _ in by_shape]
        for number in range(columns.pod_count):
            for place in placement.places(number) if number != without else ():
                for row in range(len(by_shape)):
                    wanted[row][place] += int(by_shape[row][columns.shape_of[number]])
        assert found.tolist() == wanted
