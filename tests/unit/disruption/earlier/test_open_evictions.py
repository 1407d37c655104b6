"""Tests of evictions whose replacements are not there yet."""

from __future__ import annotations

from rescheduler.disruption.earlier.open_evictions import most_replicas, with_debts
from rescheduler.model.objects.pod import OwnerReference
from tests.builders import NOW, cluster, pod, workload


def test_sent_pods_are_taken_as_terminating_by_uid() -> None:
    """Only those that were sent, and those that show it already stay as they are."""
    seen = cluster(pod("a-0", node="n1"), pod("b-0", node="n1"), pod("c-0", node="n1", deletion_at=NOW - 5))
    after = with_debts(seen, frozenset({"uid-default-a-0", "uid-default-c-0"}))
    assert [item.deletion_at for item in after.pods] == [NOW, None, NOW - 5]


def test_nothing_changes_without_open_debts() -> None:
    """The very same snapshot comes back, with what was worked out on it."""
    seen = cluster(pod("a-0", node="n1"))
    assert with_debts(seen, frozenset({"elsewhere"})) is seen


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
