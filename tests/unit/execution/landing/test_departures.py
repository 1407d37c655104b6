"""New pods are matched to the moves that they replace: same owner, not seen before, where planned first."""

from __future__ import annotations

from msgspec import structs

from rescheduler.execution.landing.departures import Departures, EvictedPod, selector_of, siblings
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import cluster, node, pod, selector, workload


class Listing(ExecutionTarget):
    """A target that lists fixed pods."""

    def __init__(self, *pods: Pod) -> None:
        self.pods = list(pods)

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> list[Pod]:
        """All of them."""
        return self.pods


def departure(name: str, to: str, known: frozenset[str] = frozenset()) -> EvictedPod:
    """A pod of ``web`` that left n0."""
    left = pod(name, node="n0", owner="web")
    move = Move(PodReference("default", name, left.uid), "n0", to, 1, "MakeRoom", "")
    return EvictedPod(move, left, selector(app="web"), known | {left.uid})


def watched(*pods: Pod, of: list[EvictedPod]) -> Departures:
    """Departures after one look."""
    found = Departures(Listing(*pods))  # type: ignore[arg-type]
    found.all.extend(of)
    found.look()
    return found


def test_each_new_pod_replaces_one_move_where_planned_first() -> None:
    """Pods of one owner are alike: the plan is as fulfilled as it can be."""
    first, second = departure("web-a", "n1"), departure("web-b", "n2")
    watched(pod("web-c", node="n2", owner="web"), pod("web-d", node="n1", owner="web"), of=[first, second])
    assert (first.landed_on, second.landed_on) == ("n1", "n2")


def test_who_came_before_any_eviction_was_granted_replaces_nobody_who_has_another() -> None:
    """The workload grew by a pod where the replacement was expected, while the process was stopped before it sent.

    Those of the plan's own evictions are shared out as before, whichever of them was granted first.
    """
    first, second = departure("web-a", "n1"), departure("web-b", "n2")
    first.granted_at, second.granted_at = 100.2, 105.4
    grown = pod("web-grown", node="n1", owner="web", created_at=40.0)
    earlier, later = (
        pod(f"web-{name}", node=name, owner="web", created_at=at) for name, at in (("n2", 100), ("n0", 106))
    )
    watched(grown, earlier, later, of=[first, second])
    assert (first.landed_on, second.landed_on) == ("n0", "n2")
    alone = departure("web-a", "n1")
    alone.granted_at = 100.2
    watched(grown, of=[alone])
    assert alone.landed_on == "n1"


def test_pods_seen_before_and_pods_of_others_replace_nobody() -> None:
    """Neither an older sibling nor a namesake's pod."""
    one = departure("web-a", "n1", frozenset({"uid-default-web-old"}))
    watched(pod("web-old", node="n1", owner="web"), pod("db-0", node="n1", owner="db"), of=[one])
    assert one.is_gone
    assert one.replacement is None
    assert not one.is_over


def test_a_replacement_that_is_leaving_again_does_not_count() -> None:
    """It was evicted in its turn, or failed."""
    one = departure("web-a", "n1")
    watched(
        pod("web-c", node="n1", owner="web", deletion_at=1.0),
        pod("web-d", node="n1", owner="web", phase="Failed"),
        of=[one],
    )
    assert one.replacement is None


def test_a_pod_is_gone_when_its_uid_is_not_its_name() -> None:
    """A StatefulSet's new pod has the old name."""
    one = departure("web-0", "n1")
    found = watched(pod("web-0", node="n1", owner="web", uid="another"), of=[one])
    assert one.is_gone
    assert one.landed_on == "n1"
    assert not found.open


def test_a_pod_that_runs_out_its_grace_is_not_gone() -> None:
    """It holds its room, although its replacement runs already."""
    one = departure("web-a", "n1")
    found = watched(
        pod("web-a", node="n0", owner="web", deletion_at=1.0), pod("web-b", node="n1", owner="web"), of=[one]
    )
    assert not one.is_gone
    assert one.landed_on == "n1"
    assert list(found.open) == [one]


def test_pods_without_one_controller_have_no_siblings() -> None:
    """Nothing says who would replace them."""
    lone = pod("lone", node="n0", owner=None)
    assert siblings(lone, [lone, pod("web-0", node="n0")]) == []


def test_a_pod_of_another_namespace_is_no_sibling_whatever_it_says() -> None:
    """Who may create pods there may write any owner into them."""
    forged = pod("web-x", node="n1", owner="web", namespace="tenant")
    forged = structs.replace(forged, owners=pod("web-a", owner="web").owners)
    assert siblings(pod("web-a", owner="web"), [forged, pod("web-b", owner="web")]) == [pod("web-b", owner="web")]


def test_an_owners_selector_narrows_what_is_listed() -> None:
    """Where the owner is known by name only, the whole namespace is looked at."""
    start = cluster(node("n0"), pod("web-0", node="n0"), pod("db-0", node="n0"), workload("web", 1))
    assert selector_of(start.pod_by_key["default/web-0"], start) == selector(app="web")
    assert selector_of(start.pod_by_key["default/db-0"], start) is None


def test_no_replacement_is_taken_from_the_only_one_that_can_have_it() -> None:
    """The second pod left when the first one's replacement was there; both wanted one node, and both are told."""
    first = departure("web-a", "n1")
    second = departure("web-b", "n1", frozenset({"uid-default-web-x"}))
    watched(pod("web-c", node="n1", owner="web"), pod("web-x", node="n1", owner="web"), of=[first, second])
    assert [item.replacement.name for item in (first, second) if item.replacement] == ["web-x", "web-c"]


def test_the_first_ones_replacement_is_not_taken_for_the_second_ones_before_that_is_there() -> None:
    """So that the next eviction waits for the right pod."""
    first = departure("web-a", "n1")
    second = departure("web-b", "n1", frozenset({"uid-default-web-x"}))
    watched(pod("web-x", node="n1", owner="web"), of=[first, second])
    assert first.landed_on == "n1"
    assert second.replacement is None


def test_who_went_because_a_replacement_works_keeps_that_one() -> None:
    """By surge: both came where both were wanted; the second pod stands, and waits for its own."""
    first = departure("web-a", "n1")
    second = departure("web-b", "n1", frozenset({"uid-default-web-x"}))
    works, starts = pod("web-x", node="n1", owner="web"), pod("web-c", node="n1", owner="web", is_ready=False)
    first.replacement = works
    first.take_over()
    watched(starts, works, pod("web-b", node="n0", owner="web"), of=[first, second])
    assert (first.replacement, second.replacement) == (works, starts)


def test_one_whose_replacement_is_lost_gets_another() -> None:
    """It is not waited for, once it is no more."""
    first = departure("web-a", "n1")
    first.replacement = pod("web-x", node="n1", owner="web")
    first.take_over()
    watched(pod("web-c", node="n1", owner="web"), of=[first])
    assert first.replacement is not None
    assert first.replacement.name == "web-c"


def test_a_pod_that_came_early_counts_for_a_later_departure_when_nothing_else_is_left() -> None:
    """Replicas are alike: the plan's first place is taken by the younger one, the elder stands in for the other."""
    first = departure("web-a", "n1")
    second = departure("web-b", "n2", frozenset({"uid-default-web-x"}))
    watched(pod("web-c", node="n1", owner="web"), pod("web-x", node="n2", owner="web"), of=[first, second])
    assert sorted([first.landed_on or "", second.landed_on or ""]) == ["n1", "n2"]


def test_looking_after_one_departure_asks_for_its_owners_pods_only() -> None:
    """However many others are on their way in the same wave."""
    asked: list[object] = []

    class Asked(Listing):
        def read_pods(self, namespace: str, selector: LabelSelector | None) -> list[Pod]:
            asked.append(selector)
            return self.pods

    other = pod("db-0", node="n0", owner="db")
    move = Move(PodReference("default", "db-0", other.uid), "n0", "n1", 1, "MakeRoom", "")
    departures = Departures(Asked())  # type: ignore[arg-type]
    departures.all = [departure("web-a", "n1"), EvictedPod(move, other, selector(app="db"), frozenset({other.uid}))]
    departures.look(departures.all[1])
    assert asked == [selector(app="db")]
