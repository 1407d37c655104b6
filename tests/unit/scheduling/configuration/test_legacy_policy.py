"""The legacy Policy: predicates, priorities, and the arguments of KEP-964."""

from __future__ import annotations

import json

import pytest

from rescheduler.scheduling.configuration.settings import Effect
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from tests.unit.scheduling.configuration.reading import argument, only, read, refusal, weights

SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]


def policy(**fields: object) -> str:
    """A Policy as JSON."""
    return json.dumps({"kind": "Policy", "apiVersion": "v1", **fields})


def ratio(shape: object = SHAPE, resources: object = None, **fields: object) -> str:
    """A Policy with one RequestedToCapacityRatio priority."""
    arguments = {"shape": shape, **({} if resources is None else {"resources": resources})}
    entry = {"name": "Packs", "weight": 5, "argument": {"requestedToCapacityRatioArguments": arguments}, **fields}
    return policy(priorities=[entry])


def test_defaults() -> None:
    """What is left out stands for the scheduler's defaults of that time."""
    profile = only(policy())
    assert "InterPodAffinity" in profile.filters
    assert weights(profile)["TaintTolerationPriority"] == 1
    assert {note.name for note in profile.not_modelled} == {"SelectorSpreadPriority", "NodePreferAvoidPodsPriority"}


def test_no_predicates() -> None:
    """An empty list leaves the two that kube-scheduler never went without."""
    assert only(policy(predicates=[])).filters == ("SchedulingGates", "NodeUnschedulable", "TaintToleration")


def test_predicates() -> None:
    """Each name stands for its plugins, in the scheduler's order."""
    names = [{"name": "MatchInterPodAffinity"}, {"name": "GeneralPredicates"}]
    assert only(policy(predicates=names)).filters == (
        "SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
        "NodeResourcesFit", "InterPodAffinity",
    )  # fmt: skip


def test_priorities() -> None:
    """Each keeps its name and weight."""
    names = [{"name": "MostRequestedPriority", "weight": 3}, {"name": "InterPodAffinityPriority", "weight": 2}]
    profile = only(policy(priorities=names, hardPodAffinitySymmetricWeight=9))
    assert weights(profile) == {"MostRequestedPriority": 3, "InterPodAffinityPriority": 2}
    assert argument(profile, "MostRequestedPriority") == NodeResourcesFit("MostAllocated")
    assert argument(profile, "InterPodAffinityPriority") == InterPodAffinity(9)


def test_capacity_ratio() -> None:
    """KEP-964's arguments: by resource, or by name as kube-scheduler reads them; a weight of 0 becomes 1."""
    resources = [{"resource": "a.b/c", "weight": 5}, {"name": "cpu", "weight": 0}, {"name": "memory"}]
    text = ratio(resources=resources)
    wanted = NodeResourcesFit(
        "RequestedToCapacityRatio", (("a.b/c", 5), ("cpu", 1), ("memory", 1)), ((0, 0), (100, 10))
    )
    assert argument(only(text), "Packs") == wanted
    warnings = "\n".join(read(text).warnings)
    assert '"a.b/c" is named by resource, as in KEP-964; kube-scheduler reads name' in warnings
    assert 'a weight of 0 for "cpu" counts as 1' in warnings


def test_capacity_ratio_without_resources() -> None:
    """Cpu and memory count, as the KEP says."""
    assert getattr(argument(only(ratio()), "Packs"), "resources", None) == (("cpu", 1), ("memory", 1))


def test_a_falling_order_of_points() -> None:
    """The KEP's own sample lists 100 before 0: points are put in order, and that kube-scheduler refuses it is told."""
    text = ratio(shape=SHAPE[::-1])
    assert getattr(argument(only(text), "Packs"), "shape", None) == ((0, 0), (100, 10))
    assert any("utilization 0 stands after 100; kube-scheduler refuses that" in line for line in read(text).warnings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ratio(shape=[SHAPE[0], SHAPE[0]]), "utilization 0 stands after 0"),
        (ratio(shape=[{"utilization": 0, "score": 11}]), "found 11; wanted 0 to 10"),
        (ratio(shape=[]), "found no point"),
        (ratio(resources=[{"name": "cpu", "weight": -1}]), 'found -1 for "cpu"; wanted 1 to 100'),
        (ratio(resources=[{"name": "cpu"}, {"name": "cpu"}]), '"cpu" is given twice; a resource has one weight'),
        (ratio(resources=[{"weight": 1}]), "name is missing"),
        (ratio(weight=0), 'found 0 for "Packs"; a priority needs a weight of 1 or more'),
        (ratio(weight=-5), 'found -5 for "Packs"'),
        (ratio(weight="5"), "found '5'; wanted a whole number"),
        (policy(priorities=[{"name": "MostRequestedPriority"}]), "a priority needs a weight of 1 or more"),
        (policy(priorities=[{"name": "MostRequested", "weight": 1}]), "did you mean MostRequestedPriority?"),
        (policy(priorities=[{"name": "RequestedToCapacityRatioPriority", "weight": 1}]), "needs its argument"),
        (policy(priorities=[{"name": "X", "weight": 1, "argument": {"shape": []}}]), "none of serviceAntiAffinity"),
        (policy(predicates=[{"name": "GeneralPredicate"}]), "did you mean GeneralPredicates?"),
        (policy(hardPodAffinitySymmetricWeight=101), "found 101; wanted 0 to 100"),
        (policy(alwaysCheckAllPredicates="true"), "found 'true'; wanted true or false, without quotes"),
        (policy(extenders=[{"urlPrefix": "http://x", "prioritizeVerb": "p"}]), "needs a weight of 1 or more"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    """What kube-scheduler refused at start is an error."""
    assert said in refusal(text)


def test_a_weight_that_is_no_number_is_told_once() -> None:
    """Not as a weight of 0 too."""
    assert refusal(ratio(weight="5")).count("\n") == 0


def test_two_capacity_ratios() -> None:
    """kube-scheduler took one only."""
    entry = json.loads(ratio())["priorities"][0]
    assert "given twice; keep one" in refusal(policy(priorities=[entry, {**entry, "name": "Again"}]))


def test_rules_by_label() -> None:
    """Predicates and priorities by labels are not modelled: the first leave feasibility unknown."""
    text = policy(
        predicates=[{"name": "Racks", "argument": {"labelsPresence": {"labels": ["rack"], "presence": True}}}],
        priorities=[{"name": "Zones", "weight": 1, "argument": {"labelPreference": {"label": "z", "presence": True}}}],
    )
    notes = {note.name: note.effect for note in only(text).not_modelled}
    assert notes == {"Racks": Effect.UNKNOWN, "Zones": Effect.ESTIMATE}


def test_a_form_that_is_gone() -> None:
    """It is told that newer schedulers read no Policy, and what they ignore."""
    warnings = read(policy(speed=1)).warnings
    assert "kube-scheduler 1.23 and newer do not read a Policy" in warnings[0]
    assert "speed: a field that kube-scheduler does not read" in warnings[1]


def test_a_name_for_the_scheduler() -> None:
    """The Policy names no scheduler."""
    assert list(read(policy(), "old").profiles) == ["old"]
