"""Many nodes emptied at once: all that the room allows, within every filter and group."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.extension_points import no_progress
from rescheduler.model.objects.constraints import PodAffinityTerm, Toleration
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.empty_nodes.draining.draining import Draining, Together
from rescheduler.planning.objectives.empty_nodes.draining.emptying_targets import TargetFinder
from rescheduler.planning.objectives.empty_nodes.draining.seatable import seatable_pods
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import keeps_limits
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.waves import GroupsOfPods
from tests import builders
from tests.unit.planning.asked import situation_of
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.empty_nodes.questions import question, question_for
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import HOST, tiny_clusters

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
BATCH, MEMORY = builders.taint("batch"), builders.taint("memory")


def together(situation: EmptyingSituation, spare: float = 0.0, seed: int = 0) -> Together | None:
    """What is emptied at once with so much to spare."""
    work = Draining(situation, GroupsOfPods(situation.problem), seed, no_progress)
    return work.together(spare, endless())


@SLOW
@given(tiny_clusters(most_running=8, caps=(None,)), st.integers(0, 3), st.sampled_from((0.0, 0.1)))
def test_a_plan_can_be_carried_out(tiny: TinyCluster, seed: int, spare: float) -> None:
    """Every wave passes all filters and groups, and the same seed gives the same plan."""
    situation = situation_of(question_for(tiny))
    found = together(situation, spare, seed)
    if found is not None:
        assert replay(situation.problem, found.solution.schedule) == []
        assert keeps_limits(situation, found.solution.schedule)
        assert together(situation, spare, seed) == found


@SLOW
@given(tiny_clusters(most_running=8, caps=(None,)), st.sampled_from((0.0, 0.1)))
def test_all_pods_have_a_goal_that_they_may_use(tiny: TinyCluster, spare: float) -> None:
    """It is the group of their own node, or one that holds a node open to them; nodes that must stay are not chosen."""
    situation = situation_of(question_for(tiny))
    targets = TargetFinder(situation, seatable_pods(situation)).targets(spare, endless())
    if targets is not None:
        assert situation.could_be_emptied[targets.emptied].all()
        problem = situation.problem
        for row, goal in enumerate(targets.goal.tolist()):
            _, mask = problem.static_mask(int(problem.movable[row]))
            groups = {int(targets.group_of[problem.origin[row]]), *targets.group_of[mask].tolist()}
            assert goal in groups


def test_a_pod_makes_room_on_a_node_that_it_may_leave_for_one_that_others_may_not_use() -> None:
    """A pod of the batch pool takes the place of one of the memory pool on a node for all, which goes to its pool."""
    nodes = [
        builders.node("batch", cpu="4", taints=[BATCH]),
        builders.node("general", cpu="4"),
        builders.node("memory", cpu="4", taints=[MEMORY]),
    ]
    pods = [
        builders.pod("b-1", cpu="2", memory="1Mi", node="batch", tolerations=(Toleration("batch", "Exists"),)),
        builders.pod("g-1", cpu="2", memory="1Mi", node="general"),
        builders.pod("m-1", cpu="2", memory="1Mi", node="general", tolerations=(Toleration("memory", "Exists"),)),
        builders.pod("m-2", cpu="2", memory="1Mi", node="memory", tolerations=(Toleration("memory", "Exists"),)),
    ]
    situation = situation_of(question(builders.cluster(*nodes, *pods), fixed=("g-1", "m-2")))
    found = together(situation)
    assert found is not None
    assert found.solution.emptied == (0,)
    assert len(found.solution.schedule.draft.moves) == 2


def test_replicas_that_keep_apart_do_so_where_they_arrive() -> None:
    """Though all of them would find room on one node."""
    apart = (PodAffinityTerm(HOST, builders.selector(app="web")),)
    nodes = [builders.node(name, cpu="8") for name in "abcd"]
    pods = [builders.pod(f"web-{name}", cpu="1", node=name, anti_affinity=apart) for name in "ab"]
    pods += [builders.pod(f"on-{name}", cpu="2", node=name) for name in "cd"]
    situation = situation_of(question(builders.cluster(*nodes, *pods)))
    found = together(situation)
    assert found is not None
    assert replay(situation.problem, found.solution.schedule) == []
    assert len(found.solution.emptied) == 2


@pytest.mark.parametrize("seed", range(4))
def test_nearly_all_is_emptied_that_the_room_allows(seed: int) -> None:
    """Of forty nodes of one size, half full in the mean by pods of many sizes, at most one less than room allows."""
    random = Random(seed)
    nodes = [builders.node(f"n{number:02}", "16", "32Gi") for number in range(40)]
    pods: list[Pod] = []
    used = np.zeros(2)
    for node in range(40):
        room = [16_000, 32_768]
        while room[0] > 8_000 * random.uniform(0.6, 1.4):
            cpu, memory = random.choice([200, 350, 500, 900, 1500]), random.choice([256, 700, 1500, 3000])
            if memory > room[1]:
                break
            room[0], room[1] = room[0] - cpu, room[1] - memory
            used += (cpu / 16_000, memory / 32_768)
            pods.append(builders.pod(f"p{len(pods):04}", f"{cpu}m", f"{memory}Mi", node=f"n{node:02}"))
    situation = situation_of(question(builders.cluster(*nodes, *pods)))
    found = together(situation, 0.015)
    assert found is not None
    assert len(found.solution.emptied) >= 40 - int(np.ceil(used.max() / 0.985)) - 1


@pytest.mark.parametrize(("most", "price"), [(2, None), (1, None), (None, [1.0, 5.0, 1.0, 1.0])])
def test_no_more_nodes_than_are_wanted_and_the_dearest_first(most: int | None, price: list[float] | None) -> None:
    """Of four nodes that are a third full two could be emptied; with prices that which saves the most is among them."""
    nodes = [builders.node(name, cpu="3") for name in "abcd"]
    pods = [builders.pod(f"on-{name}", cpu="1", memory="1Mi", node=name) for name in "abcd"]
    asked = question(builders.cluster(*nodes, *pods), most_nodes=most, price=None if price is None else np.array(price))
    situation = situation_of(asked)
    found = together(situation)
    assert found is not None
    assert found.left == 0
    assert len(found.solution.emptied) == (2 if most is None else most)
    assert price is None or 1 in found.solution.emptied


def test_nothing_where_evictions_are_limited() -> None:
    """It takes more of them than to empty one node after the other."""
    pods = [builders.pod(f"web-{name}", node=name) for name in "ab"]
    cluster = builders.cluster(builders.node("a"), builders.node("b"), *pods)
    assert together(situation_of(question(cluster, limits=MoveLimits(max_evictions=1)))) is None
    assert together(situation_of(question(cluster, limits=MoveLimits(max_evictions=2)))) is not None
