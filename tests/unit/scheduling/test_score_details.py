"""What stands behind the scores of a pod: lines that add up to the total, and a word on nodes that are not scored."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from rescheduler.model.columns import columns_of
from rescheduler.model.placement import Placement
from rescheduler.plugins.scores import ImageLocality, NodeResourcesFit
from rescheduler.scheduling.configuration.profiles import NamedScore
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER, Profile, WeightedScore
from rescheduler.scheduling.reports import scores_of
from rescheduler.scheduling.scheduler_model import SchedulerModel
from rescheduler.scheduling.score_details import Sample, ScoreDetails
from tests.builders import cluster, node, pod, taint
from tests.unit.plugins.random_clusters import placements


def details(*objects: object, profile: Profile | None = None) -> ScoreDetails:
    """Details of pod x."""
    columns = columns_of(cluster(*objects))  # type: ignore[arg-type]
    model = SchedulerModel(columns, {DEFAULT_SCHEDULER: profile} if profile else None)
    return ScoreDetails(model, columns.pod_index["default/x"])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(placement=placements)
def test_lines_say_what_the_scores_say(placement: Placement) -> None:
    """For every pod and each feasible node: the same scores, weighted parts of the total, texts that end with them."""
    model = SchedulerModel(placement.columns)
    names = [item.name for item in placement.columns.cluster.nodes]
    for number, subject in enumerate(placement.columns.cluster.pods):
        lines = ScoreDetails(model, number).lines(names)
        told = scores_of(model, subject.key).nodes
        assert set(lines) == {item.node for item in told if item.feasible}
        for item in told:
            if item.feasible:
                assert {line.plugin: line.score for line in lines[item.node]} == item.scores
                assert sum(line.weight * line.score for line in lines[item.node]) == item.total
                assert all(line.text.endswith(f" {line.score}") for line in lines[item.node])


def test_only_feasible_nodes_that_are_asked_for_have_lines() -> None:
    """In the profile's order, under the names that the profile gives."""
    nodes = (node("n1"), node("n2", taints=[taint("k")]), node("n3"))
    packs = NamedScore("packs", NodeResourcesFit("MostAllocated"))
    profile = Profile(DEFAULT_SCHEDULER, (), (WeightedScore(packs, 3), WeightedScore(ImageLocality(), -1)))
    assert set(details(*nodes, pod("x")).lines(["n1", "n2"])) == {"n1"}
    (lines,) = details(*nodes, pod("x", "2", "8Gi"), profile=profile).lines(["n3"]).values()
    assert [line[:3] for line in lines] == [("packs", 3, 50), ("ImageLocality", -1, 0)]
    assert lines[0].text.startswith("MostAllocated: cpu 100 x (0 + 2) / 4 = 50; ")


def test_nothing_is_said_where_nothing_is_scored() -> None:
    """A scheduler that is not configured, a pod that fits nowhere, a profile without scores."""
    for subject in (pod("x", scheduler_name="other"), pod("x", "99")):
        asked = details(node("n1"), subject)
        assert (asked.lines(["n1"]), asked.sample()) == ({}, None)
    assert details(node("n1"), pod("x"), profile=Profile(DEFAULT_SCHEDULER, (), ())).lines(["n1"]) == {"n1": ()}


def test_a_sample_names_all_nodes_that_may_be_chosen() -> None:
    """Of 250 empty nodes 120 are scored: beyond the best, those that 130 others may be left out before."""
    nodes = [node(f"n{number}") for number in range(250)]
    held = [pod(f"a-{number}", "2", node=f"n{number}") for number in range(100)]
    asked = details(*nodes, *held, pod("x"))
    found = asked.sample()
    assert found is not None
    assert found[:3] == (120, 250, 150)
    totals = [item.total for item in scores_of(asked.model, "default/x").nodes]
    assert found.least == max(total for total in totals if total is not None)
    assert isinstance(found, Sample)


def test_no_sample_in_a_small_cluster_or_for_a_nominated_pod() -> None:
    """Below 100 nodes all are scored; a node that the pod is nominated to is looked at first and alone."""
    small = [node(f"n{number}") for number in range(99)]
    assert details(*small, pod("x")).sample() is None
    large = [node(f"n{number}") for number in range(250)]
    assert details(*large, pod("x", nominated_node="n7")).sample() is None
    assert details(*large[1:], node("n0", "0"), pod("x", nominated_node="n0")).sample() is not None
    everywhere = details(*large, pod("x"), profile=Profile(DEFAULT_SCHEDULER, (), (), (), 100))
    assert everywhere.sample() is None
