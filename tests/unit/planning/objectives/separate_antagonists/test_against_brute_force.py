"""On random small clusters the planner separates as many antagonists as can be, by as few evictions."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.separate_antagonists.antagonists import find_antagonists
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, SeparateAntagonistsArgs
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.planning.asked import plan_separate_antagonists
from tests.unit.planning.objectives.separate_antagonists.brute_force import Ends, best_reachable
from tests.unit.planning.objectives.separate_antagonists.questions import plan_of, question, violations

NAME = "SeparateAntagonists"
HOST = "kubernetes.io/hostname"


def arguments(**fields: Any) -> SeparateAntagonistsArgs:
    """Arguments as a policy file gives them."""
    return SeparateAntagonistsArgs.model_validate_json(json.dumps(fields))


SETS = arguments(
    sets=[
        {"name": "a against b", "members": [{"matchLabels": {"app": "a"}}, {"matchLabels": {"app": "b"}}]},
        {"name": "c alone", "namespaces": ["default"], "members": [{"matchLabels": {"app": "c"}}]},
    ]
)


def are_foes(one: Pod, other: Pod) -> bool:
    """What ``SETS`` and the label say, written out."""
    if ANTAGONISTS_LABEL in one.labels and one.labels[ANTAGONISTS_LABEL] == other.labels.get(ANTAGONISTS_LABEL):
        return True
    return {one.labels.get("app"), other.labels.get("app")} in ({"a", "b"}, {"c"})


def pairs(found: Cluster, ends: Ends) -> int:
    """Pairs of pods in conflict on one node."""
    placed = list(zip(found.pods, ends, strict=True))
    return sum(here == there and are_foes(one, other) for (one, here), (other, there) in combinations(placed, 2))


@st.composite
def clusters(draw: st.DrawFn, most_nodes: int = 4, most_pods: int = 6) -> Cluster:
    """Small nodes, pods of one or two cores that fit where they are, some with anti-affinity."""
    cores = draw(st.lists(st.integers(2, 6), min_size=1, max_size=most_nodes))
    nodes = [node(f"n{number}", cpu=str(amount)) for number, amount in enumerate(cores)]
    free = list(cores)
    pods = []
    for number in range(draw(st.integers(1, most_pods))):
        where = draw(st.sampled_from([0, *range(len(cores))]))  # a crowd on the first
        size = draw(st.integers(1, 2))
        if free[where] < size:
            continue
        free[where] -= size
        app = draw(st.sampled_from("aabbccd"))
        mark = draw(st.sampled_from([{}, {}, {ANTAGONISTS_LABEL: "x"}]))
        keeps_apart = draw(st.integers(0, 5)) == 0
        pods.append(
            pod(
                f"{app}{number}-x",
                cpu=str(size),
                node=f"n{where}",
                labels={"app": app, **mark},
                anti_affinity=(PodAffinityTerm(HOST, selector(app=app)),) if keeps_apart else (),
            )
        )
    return cluster(*nodes, *pods)


@settings(max_examples=60, deadline=None)
@given(clusters(), st.sampled_from([None, None, 0, 1, 2]), st.sets(st.integers(0, 5), max_size=2))
def test_value_and_evictions_are_those_of_brute_force(
    found: Cluster, most_evictions: int | None, stuck: set[int]
) -> None:
    """Pairs left, evictions and bound are right, the checker has nothing against the plan, and the recount agrees."""
    agree(found, most_evictions, stuck)


@settings(max_examples=15, deadline=None)
@given(clusters(6, 12), st.sampled_from([1, 2]), st.sets(st.integers(0, 11), max_size=3))
def test_two_evictions_on_larger_clusters_are_those_of_brute_force(
    found: Cluster, most_evictions: int, stuck: set[int]
) -> None:
    """The same with up to six nodes and twelve pods, of which two may move."""
    agree(found, most_evictions, stuck)


def agree(found: Cluster, most_evictions: int | None, stuck: set[int]) -> None:
    """The planner reaches what trying everything finds; pods at the positions ``stuck`` may not move."""
    fixed = [item.name for number, item in enumerate(found.pods) if number in stuck]
    asked = question(found, fixed=fixed, limits=MoveLimits(most_evictions))
    answer = plan_separate_antagonists(asked, find_antagonists(asked.prediction.columns, SETS, NOW))
    limit = len(found.pods) if most_evictions is None else most_evictions
    best = best_reachable(found, asked.eligibility.movable, lambda ends: pairs(found, ends), limit)
    assert (answer.value, len(answer.moves)) == best
    assert answer.bound is not None
    assert answer.bound <= answer.value
    plan = plan_of(asked, answer, NAME)
    assert violations(asked, plan) == []
    assert pairs_left(found, plan, SETS, NOW) == answer.value
