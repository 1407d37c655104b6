"""Tests of the memory of how many replicas workloads want."""

from __future__ import annotations

from dataclasses import replace

from rescheduler.disruption.replica_changes import Wanted, remember_wanted
from rescheduler.model.objects.cluster import Cluster
from tests.builders import NOW, cluster, workload

WEB = "uid-default-web"


def seen(replicas: int, at: float = NOW) -> Cluster:
    """A snapshot of one workload."""
    return replace(cluster(workload("web", replicas)), taken_at=at)


def test_the_first_look_knows_no_change() -> None:
    """When it was changed before nobody can say."""
    assert remember_wanted({}, seen(3)) == {WEB: Wanted(3)}


def test_a_daemon_takes_what_it_sees_first_for_a_change() -> None:
    """After a start nobody knows what a workload wanted a minute ago, so it is left in peace for a while."""
    found = remember_wanted({}, cluster(workload("web", 3)), is_first_a_change=True)
    assert [item.changed_at for item in found.values()] == [NOW]


def test_what_a_workload_says_of_itself_is_known_at_the_first_look() -> None:
    """The API server keeps when replicas were written; a time of our future counts as of now."""
    told = cluster(
        workload("web", 3, scaled_at=NOW - 1000), workload("api", 3, scaled_at=NOW + 5), workload("old", 3)
    )  # fmt: skip
    found = remember_wanted({}, told, is_first_a_change=True)
    assert {uid.rpartition("-")[2]: item.changed_at for uid, item in found.items()} == {
        "web": NOW - 1000, "api": NOW, "old": NOW,
    }  # fmt: skip
    assert all(item.changed_at is None for item in remember_wanted({}, told).values())


def test_a_change_is_dated_by_the_snapshot_that_shows_it() -> None:
    """Up, down and to nothing; the same number again keeps the date."""
    first = remember_wanted({}, seen(3))
    same = remember_wanted(first, seen(3, NOW + 60))
    assert same == first
    less = remember_wanted(same, seen(0, NOW + 120))
    assert less == {WEB: Wanted(0, NOW + 120)}
    assert remember_wanted(less, seen(0, NOW + 180)) == less
    assert remember_wanted(less, seen(3, NOW + 240)) == {WEB: Wanted(3, NOW + 240)}


def test_only_what_is_there_is_remembered() -> None:
    """A workload that is gone is forgotten, one that says no number is not known."""
    assert remember_wanted({WEB: Wanted(3, NOW)}, cluster()) == {}
    assert remember_wanted({}, cluster(workload("web", 3, desired_replicas=None))) == {}


def test_a_number_that_is_back_before_anybody_looks_was_changed() -> None:
    """Scaled down and up again raises the generation by two; one change, which left the number alone, is no scaling.

    A workload that was known by its pods alone at first had no generation. (Soak, seed 500564.)
    """

    def at(generation: int, later: float) -> Cluster:
        return replace(cluster(workload("web", 3, generation=generation)), taken_at=NOW + later)

    first = remember_wanted({}, at(4, 0))
    again = remember_wanted(first, at(5, 60))
    assert again == {WEB: Wanted(3, None, 5)}
    assert remember_wanted(again, at(7, 120)) == {WEB: Wanted(3, NOW + 120, 7)}
    assert remember_wanted(again, at(7, 120)) != remember_wanted(again, at(6, 120))
    assert remember_wanted({WEB: Wanted(3)}, at(4, 60)) == {WEB: Wanted(3, None, 4)}
    assert remember_wanted(remember_wanted({}, at(1, 0)), at(3, 60)) == {WEB: Wanted(3, NOW + 60, 3)}
