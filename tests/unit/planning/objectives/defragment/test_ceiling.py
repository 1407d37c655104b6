"""The bound of Defragment: never below what is possible, and tight where one relaxation tells all."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.defragment.ceiling import Ceiling
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation
from tests.builders import cluster, node, pod, taint
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.defragment.brute_force import Shapes, best_defragmentation
from tests.unit.planning.objectives.defragment.questions import question, question_for, shape
from tests.unit.planning.objectives.defragment.test_objective_against_brute_force import SHAPES, wanted
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import tiny_clusters


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tiny=tiny_clusters(most_running=5), shapes=SHAPES, most=st.sampled_from((None, 0, 1, 2)))
def test_no_order_of_moves_reaches_more(tiny: TinyCluster, shapes: Shapes, most: int | None) -> None:
    """Brute force never passes the bound."""
    limited = TinyCluster(tiny.nodes, tiny.pods, tiny.frozen, most)
    situation = DefragmentSituation(question_for(limited), wanted(shapes))
    assert Ceiling(situation).value(endless()) >= best_defragmentation(limited, shapes).value - 1e-6


def bound(*shapes: object, limits: MoveLimits | None = None, fixed: tuple[str, ...] = ()) -> float:
    """Bound for four nodes of 4 cores with a pod of 1 core each."""
    made = cluster(*(node(f"n{n}") for n in range(4)), *(pod(f"p{n}-0", cpu="1", node=f"n{n}") for n in range(4)))
    return Ceiling(DefragmentSituation(question(made, limits=limits, fixed=fixed), shapes)).value()  # type: ignore[arg-type]


def test_room_in_all_bounds() -> None:
    """Twelve free cores hold three pods of four."""
    assert bound(shape(cpu="4")) == 3


def test_evictions_bound() -> None:
    """Each eviction clears one node."""
    assert bound(shape(cpu="4"), limits=MoveLimits(max_evictions=2)) == 2
    assert bound(shape(cpu="4"), limits=MoveLimits(max_evictions_per_node=0)) == 0


def test_pods_that_must_stay_bound() -> None:
    """Nodes whose pod stays are lost."""
    assert bound(shape(cpu="4"), fixed=("p0-0", "p1-0", "p2-0")) == 1


def test_both_relaxations_together() -> None:
    """Two shapes: one bounded by the room in all, the other by the evictions."""
    both = bound(shape(cpu="4"), shape(weight=10.0, cpu="2"), limits=MoveLimits(max_evictions=1))
    assert both <= 1 + 10 * (4 + 1)


def test_weights_that_are_not_whole_are_not_rounded_down() -> None:
    """Half a pod's weight stays in the bound."""
    assert bound(shape(weight=0.5, cpu="4"), limits=MoveLimits(max_evictions=1)) >= 0.5


def test_pods_as_large_as_the_shape_gain_nothing_by_moving() -> None:
    """Wherever such a pod arrives it takes the room of one, so the bound is what fits already."""
    made = cluster(
        *(node(f"n{n}", cpu="8") for n in range(4)), *(pod(f"p{n}-0", cpu="4", node=f"n{n}") for n in range(4))
    )
    assert Ceiling(DefragmentSituation(question(made), [shape(cpu="4")])).value() == 4


def test_pods_that_may_go_where_nothing_is_counted_may_gain() -> None:
    """A pod that tolerates a taint can leave for a node on which the shape does not count."""
    tolerant = (Toleration("special", "Exists"),)
    made = cluster(node("a"), node("t", taints=[taint("special")]), pod("p-0", cpu="4", node="a", tolerations=tolerant))
    assert Ceiling(DefragmentSituation(question(made), [shape(cpu="4")])).value() == 1


def test_pod_slots_keep_the_bound_true() -> None:
    """Where slots are scarce a pod of the size of several shapes may take the room of one only."""
    made = cluster(
        node("a", cpu="8", pods=8), node("b", cpu="9", pods=2), pod("big-0", cpu="8", memory="1Mi", node="a")
    )
    situation = DefragmentSituation(question(made), [shape(cpu="1")])
    assert Ceiling(situation).value() >= 8 + 1


def test_a_close_look_never_raises_the_bound() -> None:
    """Whole pods free no more than the largest amounts of each resource taken together."""
    made = cluster(
        node("a", cpu="8", memory="8Gi"),
        node("b", cpu="8", memory="8Gi"),
        pod("cpu-0", cpu="3", memory="1Gi", node="a"),
        pod("memory-0", cpu="1", memory="3Gi", node="a"),
        pod("cpu-1", cpu="4", memory="4Gi", node="a"),
    )
    wanted_shape = shape(cpu="3500m", memory="3500Mi")
    situation = DefragmentSituation(question(made, limits=MoveLimits(max_evictions=1)), [wanted_shape])
    quick = Ceiling(situation).value()
    close = Ceiling(situation).value(endless())
    assert close <= quick
    assert close >= 2
