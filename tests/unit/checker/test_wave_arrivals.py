"""The arrivals of one wave are found by node and by label."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.checker.selectors import label_selector_matches
from rescheduler.checker.wave_arrivals import WaveArrivals
from rescheduler.checker.world import Arrival
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from tests.builders import node, pod

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3)
RULES = st.builds(
    Requirement,
    st.sampled_from("abc"),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(st.sampled_from("xyz"), min_size=1, max_size=2, unique=True).map(tuple),
)
SELECTORS = st.one_of(st.none(), st.lists(RULES, max_size=2).map(tuple).map(LabelSelector))


def arrivals_of(labels: list[Mapping[str, str]], terms: tuple[PodAffinityTerm, ...] = ()) -> list[Arrival]:
    """One arrival for each set of labels, on two nodes in turn."""
    places = [node("n0"), node("n1")]
    return [
        Arrival(pod(f"p{number}", labels=dict(found), cpu="1", anti_affinity=terms), places[number % 2])
        for number, found in enumerate(labels)
    ]


@given(labels=st.lists(LABELS, min_size=1, max_size=6), selectors=st.lists(SELECTORS, min_size=1, max_size=2))
def test_nobody_whom_selectors_pick_is_left_out(
    labels: list[Mapping[str, str]], selectors: list[LabelSelector | None]
) -> None:
    """Whatever all of the selectors pick of the others is among those that are found, the one itself never is."""
    arrivals = arrivals_of(labels)
    for position in range(len(arrivals)):
        found = list(WaveArrivals(arrivals).without(position).picked(*selectors))
        assert arrivals[position] not in found
        for number, other in enumerate(arrivals):
            if number != position and all(label_selector_matches(item, other.pod.labels) for item in selectors):
                assert other in found


@given(labels=LABELS, selector=SELECTORS)
def test_nobody_who_keeps_apart_from_a_pod_is_left_out(
    labels: Mapping[str, str], selector: LabelSelector | None
) -> None:
    """Those whose anti-affinity picks a pod's labels are found, whatever form their selector has."""
    arrivals = arrivals_of([{}, {}], (PodAffinityTerm("kubernetes.io/hostname", selector),))
    found = list(WaveArrivals(arrivals).without(0).looking_at(labels))
    if label_selector_matches(selector, labels):
        assert found == [arrivals[1]]


def test_others_on_a_node_are_counted_without_oneself() -> None:
    """Number and requests on a node are those of the others that come there."""
    wave = WaveArrivals(arrivals_of([{}, {}, {}]))
    others = wave.without(0)
    assert (others.number_on("n0"), others.requested_on("n0", "cpu")) == (1, 1000)
    assert (others.number_on("n1"), others.requested_on("n1", "cpu")) == (1, 1000)
    assert [other.pod.name for other in others.on("n0")] == ["p2"]
    assert others.requested_on("n2", "cpu") == 0


def test_selectors_that_name_labels_lead_to_those_pods_alone() -> None:
    """In a wave of a thousand workloads a selector of one of them looks at its own pods only."""
    wave = WaveArrivals(arrivals_of([{"app": str(number)} for number in range(1000)]))
    selector = LabelSelector((Requirement("app", "In", ("7",)),))
    assert [other.pod.name for other in wave.without(0).picked(selector)] == ["p7"]
    assert list(wave.without(7).picked(selector)) == []
