"""Tests of evictions whose replacements are not there yet."""

from __future__ import annotations

from rescheduler.disruption.earlier.open_evictions import most_replicas, replicas_with_debts, with_debts
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.plan.plan import PodReference, reference_to
from tests.builders import NOW, cluster, pod, workload


def test_sent_pods_are_taken_as_terminating_by_uid() -> None:
    """Only those that were sent, and those that show it already stay as they are."""
    seen = cluster(pod("a-0", node="n1"), pod("b-0", node="n1"), pod("c-0", node="n1", deletion_at=NOW - 5))
    after = with_debts(seen, [reference_to(item) for item in seen.pods if item.name != "b-0"])
    assert [item.deletion_at for item in after.pods] == [NOW, None, NOW - 5]


def test_nothing_changes_without_open_debts() -> None:
    """The very same snapshot comes back, with what was worked out on it; another of the same name was not sent."""
    seen = cluster(pod("a-0", node="n1"))
    sent = [PodReference("default", "gone", "uid-gone"), PodReference("default", "a-0", "uid-of-an-earlier-one")]
    assert with_debts(seen, sent) is seen


def test_the_most_replicas_of_unknown_owners_are_remembered() -> None:
    """Known owners say themselves what they want; terminating and finished pods, and mere co-owners, do not count."""
    co_owner = OwnerReference("Thing", "t", "uid-thing", is_controller=False)
    pods = [
        pod("a-0", node="n1"),
        pod("a-1", node="n1"),
        pod("a-2", node="n1", deletion_at=NOW),
        pod("a-3", node="n1", phase="Failed"),
        pod("b-0", node="n1"),
        pod("c-0", node="n1", owners=(co_owner,)),
    ]
    seen = cluster(workload("b", 1), *pods)
    assert most_replicas({}, seen) == {"uid-default-a": 2}
    assert most_replicas({"uid-default-a": 5, "uid-x": 1}, seen) == {"uid-default-a": 5, "uid-x": 1}


def test_owners_of_whom_nothing_is_left_want_nothing_as_far_as_is_known() -> None:
    """Remembered or not: pods that go are nobody's wish."""
    seen = cluster(pod("d-0", node="n1", deletion_at=NOW))
    assert most_replicas({}, seen) == {"uid-default-d": 0}
    assert most_replicas({"uid-x": 0}, cluster()) == {"uid-x": 0}


def test_a_debt_remembers_how_many_replicas_its_owner_wanted() -> None:
    """The larger of both counts; an owner that wanted none is missed by nobody, and one without a name is no owner."""

    def debt(number: int, uid: str, desired: int) -> LedgerEntry:
        gone = PodReference("default", f"p-{number}", f"uid-{number}")
        return LedgerEntry(
            number, 1, gone, "n0", "n1", NOW, state=EntryState.OPEN, workload=uid, workload_key=uid, desired=desired
        )

    ledger = Ledger(entries=(debt(1, "uid-a", 3), debt(2, "uid-b", 2), debt(3, "uid-c", 0), debt(4, "", 9)))
    assert replicas_with_debts({"uid-b": 5, "uid-x": 1}, ledger) == {"uid-a": 3, "uid-b": 5, "uid-c": 0, "uid-x": 1}
