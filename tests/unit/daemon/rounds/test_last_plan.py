"""A round begins its search with what of the last one's plan still stands, and with nothing else."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.last_plan import LastPlan
from rescheduler.model.plan.plan import PlannedPlacement
from tests.builders import cluster, node, pod
from tests.clocks import FakeClock, LookedAtClock
from tests.unit.daemon.plans import plan, reference
from tests.unit.planning.lexicographic.test_warm_start import merit, policy, scattered, told

WORLD = cluster(node("n1", "4"), node("n2", "4"), *(pod(f"web-{number}", "1", node="n1") for number in range(3)))


def test_the_first_round_begins_with_nothing() -> None:
    """And so does one after a plan without moves."""
    last = LastPlan()
    assert last.standing(WORLD) is None
    last.keep(plan())
    assert last.standing(WORLD) is None


def test_only_pods_that_are_where_they_were_are_a_start() -> None:
    """One that was evicted, came back under its name, stands elsewhere or is on its way out is none."""
    last = LastPlan()
    names = [f"web-{number}" for number in range(5)]
    kept = last.keep(plan(*names))
    stays = pod("web-0", "1", node="n1")
    again = structs.replace(pod("web-1", "1", node="n1"), uid="another")
    elsewhere, leaving = pod("web-2", "1", node="n2"), structs.replace(pod("web-3", "1", node="n1"), deletion_at=1.0)
    found = last.standing(cluster(node("n1", "4"), node("n2", "4"), stays, again, elsewhere, leaving))
    assert found is not None
    assert [move.pod.name for move in found.moves] == ["web-0"]
    assert len(kept.moves) == 5


def test_places_of_pods_that_still_wait_are_a_start() -> None:
    """One that got its place is none."""
    last = LastPlan()
    places = tuple(PlannedPlacement(reference(name), "n2", 0) for name in ("waits", "runs"))
    last.keep(structs.replace(plan(), placements=places))
    found = last.standing(cluster(node("n2", "4"), pod("waits", "1"), pod("runs", "1", node="n2")))
    assert found is not None
    assert [place.pod.name for place in found.placements] == ["waits"]


def test_a_round_reaches_at_once_what_the_last_one_reached() -> None:
    """In a time in which a cold search finds less; what was carried out is not told as lost."""
    world, last = scattered(), LastPlan()
    first = last.keep(make_plan(world, policy("EmptyNodes"), CycleOptions(FakeClock())))
    short = policy("EmptyNodes", "20s")
    cold = make_plan(world, short, CycleOptions(LookedAtClock()))
    warm = make_plan(world, short, CycleOptions(LookedAtClock(), start=last.standing(world)))
    assert merit(cold) < merit(first) <= merit(warm)
    gone = {move.pod.uid for move in first.moves[:2]}
    later = replace(world, pods=tuple(one for one in world.pods if one.uid not in gone))
    assert not told(make_plan(later, short, CycleOptions(LookedAtClock(), start=last.standing(later))))
