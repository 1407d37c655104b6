"""Where pods may leave before they arrive, help and evictions on tiny clusters equal those of an exhaustive search."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as with_changes

from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import ObjectivePlan
from rescheduler.planning.room_model.ranking import help_vector
from rescheduler.planning.waves.replay import replay
from tests.unit.planning.asked import RoomRequest, plan_make_room
from tests.unit.planning.brute_exchanges import BruteForceWithExchanges
from tests.unit.planning.brute_force import TinyCluster, TinyNode, TinyPod
from tests.unit.planning.planning_requests import problem_of
from tests.unit.planning.tiny import request_for, tiny_clusters


def with_exchanges(request: RoomRequest, allowed: int = 1) -> RoomRequest:
    """The same question where pods may leave before they arrive, and so many of a workload in one wave."""
    old = request.eligibility
    groups = tuple(
        with_changes(group, allowed_per_wave=allowed if group.allowed_per_wave else 0) for group in old.groups
    )
    return replace(request, eligibility=with_changes(old, may_evict_first=True, groups=groups))


def schedule_of(answer: ObjectivePlan) -> WaveSchedule:
    """The answer's moves and places as a schedule."""
    last = max((move.wave for move in answer.moves), default=0)
    waves = tuple(tuple((m.pod, m.to_node) for m in answer.moves if m.wave == wave) for wave in range(1, last + 1))
    places = tuple((place.pod, place.node, place.wave) for place in answer.placements)
    return WaveSchedule(waves, places, frozenset(move.wave for move in answer.moves if move.evict_first))


@st.composite
def full_clusters(draw: st.DrawFn) -> TinyCluster:
    """Nodes with a core left at most, pods larger than that, and one that waits for what is left on all of them."""
    nodes: list[TinyNode] = []
    pods: list[TinyPod] = []
    left = 0
    for number in range(draw(st.integers(2, 3))):
        sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3 if number < 2 else 1))
        spare = draw(st.sampled_from((0, 1, 1, 1)))
        left += spare
        nodes.append(TinyNode(sum(sizes) + spare, draw(st.sampled_from("ab"))))
        pods += [TinyPod(cores, draw(st.sampled_from("pqrstu")), number) for cores in sizes]
    rules = {name: draw(st.sampled_from(({}, {}, {}, {"keeps_apart": True}, {"spreads": True}))) for name in "pqr"}
    pods = [replace(pod, **rules.get(pod.workload, {})) for pod in pods]
    pods.append(TinyPod(max(2, left), "x", None))
    return TinyCluster(tuple(nodes), tuple(pods), max_evictions=draw(st.sampled_from((2, 3, 4))))


TWO_EXCHANGES = TinyCluster(
    (TinyNode(5), TinyNode(12), TinyNode(5)),
    (
        TinyPod(4, "r", 0),
        TinyPod(2, "p", 1),
        TinyPod(5, "r", 1),
        TinyPod(5, "s", 1),
        TinyPod(4, "p", 2),
        TinyPod(2, "x", None),
    ),
    max_evictions=4,
)
"""Of the two pods of one size on the second node each must go to the node whose own pod is of another workload: the
other way round two of one workload would leave together, of which one may."""


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(full_clusters(), tiny_clusters(caps=(1, 2, 3))), st.sampled_from((1, 2)))
@example(TWO_EXCHANGES, 1)
def test_help_and_evictions_are_those_of_an_exhaustive_search(tiny: TinyCluster, allowed: int) -> None:
    """As many pods are helped as single moves and exchanges can, with the fewest evictions; all of it proven."""
    request = with_exchanges(request_for(tiny), allowed)
    answer = plan_make_room(request)
    helped, evictions = BruteForceWithExchanges(tiny, allowed=allowed).best()
    problem = problem_of(request)
    assert help_vector(problem, (place.pod for place in answer.placements)) == helped
    assert answer.value == evictions
    assert answer.bound == evictions
    expected = Status.OPTIMAL if sum(helped) == answer.wanted else Status.INFEASIBLE
    assert answer.status is expected
    assert replay(problem, schedule_of(answer)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(full_clusters(), tiny_clusters()))
def test_never_worse_than_without_exchanges(tiny: TinyCluster) -> None:
    """What single moves reach is reached; where they do as well, nobody leaves before he arrives."""
    plain = request_for(tiny)
    request = with_exchanges(plain)
    answer, single = plan_make_room(request), plan_make_room(plain)
    problem = problem_of(request)
    helped, before = (help_vector(problem, (place.pod for place in a.placements)) for a in (answer, single))
    assert (helped, -answer.value) >= (before, -single.value)
    if (helped, answer.value) == (before, single.value):
        assert not any(move.evict_first for move in answer.moves)
