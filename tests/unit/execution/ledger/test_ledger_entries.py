"""What is written of an eviction as it is announced, and which own debts count no more for the plan's next wave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.ledger.ledger_entries import AnnouncedEvictions
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import EarlierAttempts
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, PodReference, reference_to
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.worlds import World

LABELS = {"app": "web", "tier": "front", "secret": "x"}
WEB = [pod(f"web-{number}", node="n0", owner="web", labels=LABELS) for number in range(3)]
NODES = (node("n0", "64", zone="east"), node("n1", "64"))
START = cluster(*NODES, *WEB, workload("web", 4))


def fresh_of(seen: Cluster) -> FreshCluster:
    """The snapshot as it is."""
    world = World(seen)
    fresh = FreshCluster(world, world.clock, lambda found: found)
    fresh.read()
    fresh.now = seen
    return fresh


def move_of(found: Pod, from_node: str = "n0", method: MoveMethod = MoveMethod.EVICT) -> Move:
    """To n1."""
    return Move(reference_to(found), from_node, "n1", 1, "MakeRoom", "because", method=method)


def announced(found: Pod, seen: Cluster, *, keys: Iterable[str] = (), **of_move: Any) -> LedgerEntry:
    """The entry of an eviction by plan 7."""
    return AnnouncedEvictions(keys).entry(move_of(found, **of_move), found, 7, fresh_of(seen))


def test_an_entry_tells_what_was_so_as_it_was_announced() -> None:
    """Whose pod it was, how many it wanted and had, where it stood, and why it is moved; its number is to come."""
    found = announced(WEB[0], START)
    assert found.number == 0
    assert (found.plan, found.pod, found.from_node, found.to_node) == (7, reference_to(WEB[0]), "n0", "n1")
    assert (found.workload, found.workload_key) == ("uid-default-web", "ReplicaSet default/web")
    assert (found.desired, found.ready, found.zone, found.grace_seconds) == (4, 3, "east", 30)
    assert (found.objective, found.reason, found.state, found.attempt) == (
        "MakeRoom", "because", EntryState.INTENDED, 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        pod("web-9", node="n1", owner="web", is_ready=False),
        pod("web-9", owner="web", is_ready=True),
        pod("web-9", node="n1", owner="web", deletion_at=NOW + 30),
        pod("web-9", node="n1", owner="web", phase="Succeeded"),
        pod("db-9", node="n1", owner="db"),
        pod("web-9", node="n1", owner="web", namespace="other"),
        pod("bare", node="n1", owner=None),
    ],
    ids=["not ready", "without a node", "on its way out", "finished", "another's", "elsewhere", "nobody's"],
)
def test_only_pods_of_the_workload_that_work_count_as_ready(other: Pod) -> None:
    """So many have to be ready again before the debt is over: one too many, and it never is."""
    seen = cluster(*NODES, *WEB, other, workload("web", 4), workload("db", 1))
    assert announced(WEB[0], seen).ready == 3
    assert announced(WEB[0], cluster(*NODES, *WEB, pod("web-9", node="n1", owner="web"), workload("web", 4))).ready == 4


def test_each_snapshot_and_namespace_is_counted_for_itself() -> None:
    """Pods are announced in any order, and the cluster changes between them."""
    there = [pod(f"api-{number}", node="n1", owner="api", namespace="other") for number in range(2)]
    first = cluster(*NODES, *WEB, *there, workload("web", 4), workload("api", 2, namespace="other"))
    second = cluster(*NODES, *WEB[:2], *there, workload("web", 4), workload("api", 2, namespace="other"))
    known, fresh = AnnouncedEvictions(), fresh_of(first)
    counts = []
    for seen, found in ((first, WEB[0]), (first, there[0]), (first, WEB[1]), (second, WEB[1]), (second, there[1])):
        fresh.now = seen
        counts.append(known.entry(move_of(found), found, 1, fresh).ready)
    assert counts == [3, 2, 3, 2, 2]


def test_a_pod_that_nobody_owns_owes_nobody_anything() -> None:
    """Nor does one whose node is not to be seen tell a zone."""
    bare = pod("bare", node="n9", owner=None)
    found = announced(bare, cluster(*NODES, bare, *WEB, workload("web", 4)), from_node="n9")
    assert (found.workload, found.workload_key, found.desired, found.ready, found.zone) == ("", "", 0, 0, "")


def test_an_owner_that_does_not_say_how_many_it_wants_is_known_to_want_none() -> None:
    """As one of another group that is known by its pods alone."""
    seen = cluster(*NODES, *WEB, structs.replace(workload("web", 1), desired_replicas=None))
    assert (announced(WEB[0], seen).desired, announced(WEB[0], seen).ready) == (0, 3)


def test_labels_that_budgets_ask_about_are_written_down_and_no_others() -> None:
    """Whatever else stands on a pod is nobody's business; that a key was asked for is told without its label too."""
    found = announced(WEB[0], START, keys=["tier", "app", "missing"])
    assert found.labels == {"app": "web", "tier": "front"}
    assert found.label_keys == ("app", "missing", "tier")


@pytest.mark.parametrize(
    ("method", "state"),
    [
        (MoveMethod.EVICT, EntryState.INTENDED),
        (MoveMethod.SURGE, EntryState.SURGING),
        (MoveMethod.MIGRATE, EntryState.SURGING),
    ],
)
def test_only_an_eviction_begins_as_a_debt(method: MoveMethod, state: EntryState) -> None:
    """By other methods nobody is missing."""
    found = announced(WEB[0], START, method=method)
    assert (found.state, found.method) == (state, method)


def test_an_entry_is_announced_to_the_millisecond() -> None:
    """Its time is half of what it is known by, and has to come back from any text as it was."""
    world = World(START)
    fresh = FreshCluster(world, world.clock, lambda found: found)
    fresh.read()
    world.clock.sleep(1.23456789)
    found = AnnouncedEvictions().entry(move_of(WEB[0]), WEB[0], 7, fresh)
    assert found.at == round(fresh.time, 3) != fresh.time


def test_a_later_attempt_of_a_run_is_told() -> None:
    """What was left of a plan and was planned again is the same run's."""
    earlier = EarlierAttempts(number=1)
    found = AnnouncedEvictions(earlier=earlier).entry(move_of(WEB[0]), WEB[0], 7, fresh_of(START))
    assert found.attempt == earlier.attempt == 2


def own(name: str, **fields: Any) -> tuple[AnnouncedEvictions, LedgerEntry]:
    """Own entries, of which this is the only one."""
    known, found = AnnouncedEvictions(), entry(name, **fields)
    known.put(found)
    return known, found


def test_an_own_debt_whose_replacement_is_ready_is_over_for_the_plan() -> None:
    """Another's of the same workload is not, nor is another send of the same pod."""
    known, found = own("web-0")
    other, later = entry("web-1", number=2), entry("web-0", number=3, at=NOW + 50)
    ledger = ledger_of(found, other, later)
    assert known.without_complete(ledger, NOW + 60) is ledger
    known.complete([found.pod])
    seen = known.without_complete(ledger, NOW + 60)
    assert [item.state for item in seen.entries] == [EntryState.REPAID, EntryState.OPEN, EntryState.OPEN]
    assert seen.entries[0].closed_at == NOW + 60


@pytest.mark.parametrize("state", [EntryState.REFUSED, EntryState.FAILED, EntryState.SURGING])
def test_what_is_no_debt_stays_as_it_is(state: EntryState) -> None:
    """Whether its pod's replacement is Ready or not."""
    known, found = own("web-0", state=state)
    known.complete([found.pod])
    assert known.without_complete(ledger_of(found), NOW + 60).entries == (found,)


def test_debts_of_earlier_attempts_whose_replacements_are_ready_are_over_too() -> None:
    """They are not in what this attempt has announced."""
    first, second = entry("web-0"), entry("web-1", number=2)
    known = AnnouncedEvictions(earlier=EarlierAttempts(ready=frozenset({first.pod})))
    seen = known.without_complete(ledger_of(first, second), NOW + 60)
    assert [item.is_debt for item in seen.entries] == [False, True]


def test_an_entry_takes_the_place_of_an_older_one_of_its_pod() -> None:
    """In the order in which pods were first announced; one that was never written is forgotten, once or twice."""
    known, first = own("web-0", state=EntryState.REFUSED)
    second, third = entry("web-1"), entry("web-0", at=NOW + 50)
    known.put(second)
    known.put(third)
    assert known.all == (third, second)
    assert (known.of(first.pod), known.of(PodReference("default", "web-9", "u"))) == (third, None)
    known.forget(third)
    known.forget(third)
    assert list(known.all) == [second]
