"""What is asked about all pods together, counted as they come and go."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.objects.assembly import AssemblyWarnings, PodTally
from rescheduler.model.objects.pod import Pod, PodSpec

SPEC = PodSpec()
pods = st.builds(
    Pod,
    namespace=st.just("default"),
    name=st.sampled_from("abc"),
    uid=st.sampled_from(["", "1", "2", "3"]),
    spec=st.just(SPEC),
    node_name=st.sampled_from([None, "n1", "n2"]),
    created_at=st.one_of(st.none(), st.floats(0, 100)),
)


@given(st.lists(pods, max_size=12), st.data())
def test_counting_gives_what_looking_at_all_gives(found: list[Pod], data: st.DataObject) -> None:
    """Nodes, double uids, and a time after which no pod was created, after any number were taken out again."""
    tally = PodTally(found)
    left = list(found)
    for _ in range(data.draw(st.integers(0, len(found)))):
        tally.remove(left.pop(data.draw(st.integers(0, len(left) - 1))))
    facts = tally.facts()
    uids = [pod.uid for pod in left if pod.uid]
    assert facts.nodes == {pod.node_name for pod in left} - {None}
    assert facts.has_double_uids is (len(set(uids)) < len(uids))
    assert all(pod.created_at is None or pod.created_at <= facts.latest_created for pod in left)


def test_warnings_about_no_object_stay_as_they_are() -> None:
    """Only what is odd about several objects alike is told together; the same text counts once."""
    warnings = AssemblyWarnings()
    texts = [f"{count} more objects are set aside" for count in range(5)]
    for text in [*texts, *texts]:
        warnings.add(text)
    assert warnings.told() == tuple(texts)
