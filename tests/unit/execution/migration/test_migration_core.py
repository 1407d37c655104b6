"""One pod whose owner was asked: moved, given up, or not known; nothing is decided before it shows."""

from __future__ import annotations

from rescheduler.execution.migration.migration_core import (
    REPLACED_SECONDS,
    SURE_SECONDS,
    Act,
    LookAgain,
    MigrationRules,
    MigrationSight,
    Moved,
    Open,
    Undone,
    begun,
    decide,
)
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS
from tests.builders import pod

RULES = MigrationRules(within_seconds=60.0)
STANDS = MigrationSight(pod("vm", node="n0"), None)
MARKED = MigrationSight(pod("vm", node="n0", annotations={EVICTION_IN_PROGRESS: ""}), "n1")
ENDED = MigrationSight(pod("vm", node="n0", phase="Succeeded"), "n1")
GONE = MigrationSight(None, "n1")
LEAVING = MigrationSight(pod("vm", node="n0", deletion_at=1.0), "n1")


def acts(*looks: tuple[float, MigrationSight]) -> list[Act]:
    """What looks at these times lead to, in order."""
    state, found = begun(RULES, 0.0), []
    for now, sight in looks:
        state, act = decide(RULES, state, sight, now)
        found.append(act)
    return found


def test_it_has_moved_when_the_old_pod_has_ended_or_gone_and_the_new_one_has_a_node() -> None:
    """While it is marked, however long the new one stands, it has not."""
    assert acts((1.0, STANDS), (2.0, MARKED), (30.0, MARKED), (31.0, ENDED)) == [
        LookAgain(),
        LookAgain(),
        LookAgain(),
        Moved(),
    ]
    assert acts((1.0, STANDS), (2.0, GONE)) == [LookAgain(), Moved()]


def test_a_mark_that_goes_while_the_pod_stands_means_that_he_has_given_up() -> None:
    """Not at once: it may go a moment before the pod does, or come back."""
    back = STANDS._replace(landed_on="n1")
    undone = acts((1.0, MARKED), (2.0, back), (2.0 + SURE_SECONDS, back))
    assert undone[:2] == [LookAgain(), LookAgain()]
    assert isinstance(undone[2], Undone)
    assert acts((1.0, MARKED), (2.0, back), (3.0, MARKED), (4.5, back), (6.0, ENDED)) == [LookAgain()] * 4 + [Moved()]


def test_a_pod_that_is_on_its_way_out_is_waited_for() -> None:
    """Its mark may be gone by then."""
    assert acts((1.0, MARKED), (2.0, LEAVING), (20.0, LEAVING), (21.0, GONE)) == [LookAgain()] * 3 + [Moved()]


def test_without_a_mark_nothing_was_undone() -> None:
    """He may not have begun: his word is waited for until the time is over, and then nobody knows."""
    first, second, last = acts((1.0, STANDS), (59.0, STANDS), (60.0, STANDS))
    assert (first, second) == (LookAgain(), LookAgain())
    assert isinstance(last, Open)
    assert "has not begun to move it within 60 s" in last.why


def test_one_that_takes_too_long_is_told_as_such() -> None:
    """It may succeed yet."""
    found = acts((1.0, MARKED), (60.0, MARKED))[-1]
    assert isinstance(found, Open)
    assert "was not done within 60 s" in found.why


def test_a_pod_that_is_gone_without_another_is_not_moved() -> None:
    """Another one may take a moment to be seen."""
    nobody = MigrationSight(None, None)
    found = acts((1.0, nobody), (1.0 + REPLACED_SECONDS / 2, nobody), (1.0 + REPLACED_SECONDS, nobody))
    assert found[:2] == [LookAgain(), LookAgain()]
    assert found[2] == Open("it is gone, and no other pod has taken its place")
    assert acts((1.0, nobody), (5.0, GONE))[-1] == Moved()
