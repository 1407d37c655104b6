"""A debt ends by proof alone: the pod still stands long after, or a replacement has worked for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.execution.entries import entry, ledger_of

OLD = NOW - 1000.0


def after(seconds: float, *objects: Any, replicas: int = 3, owner: bool = True) -> Cluster:
    """The cluster so long after NOW: nodes n0 to n2, ReplicaSet web, and these objects."""
    nodes = [node(f"n{number}", "8") for number in range(3)]
    known = [workload("web", replicas)] if owner else []
    return cluster(*nodes, *known, *objects, taken_at=NOW + seconds)


def web(name: str, *, on: str | None = "n1", born: float = OLD, ready_at: float | None = OLD, **fields: Any) -> Pod:
    """A pod of web, ready unless ``ready_at`` is None."""
    return pod(
        f"web-{name}", node=on, owner="web", created_at=born, is_ready=ready_at is not None, ready_at=ready_at, **fields
    )


def settle(item: LedgerEntry, world: Cluster) -> LedgerEntry:
    """The entry after a look at the world."""
    return settled(ledger_of(item), world, lambda reference: world.pod_by_key.get(reference.key)).entries[0]


OTHERS = (web("1", on="n0"), web("2", on="n2"))


def test_a_replacement_that_has_worked_for_thirty_seconds_repays() -> None:
    """Its node is noted as where the pod landed."""
    found = settle(entry(), after(36, *OTHERS, web("new", born=NOW + 1, ready_at=NOW + 6)))
    assert (found.state, found.landed_on, found.closed_at) == (EntryState.REPAID, "n1", NOW + 36)


@pytest.mark.parametrize(
    ("ended_at", "ready_at", "closed_at"),
    [
        (NOW + 2, NOW + 6, NOW + 36),
        (NOW + 50, NOW + 6, NOW + 50),
        (None, NOW - 40, NOW),
        (None, NOW + 3570, NOW + 3600),
    ],
    ids=["long ago", "before the answer", "by a clock that is behind", "just now"],
)
def test_however_late_somebody_looks_a_replacement_took_no_longer_than_it_did(
    ended_at: float | None, ready_at: float, closed_at: float
) -> None:
    """Rounds may be hours apart: a debt ends when its replacement had worked for long enough."""
    new = web("new", born=NOW + 1, ready_at=ready_at)
    found = settle(entry(ended_at=ended_at), after(3600, *OTHERS, new))
    assert (found.state, found.closed_at) == (EntryState.REPAID, closed_at)


@pytest.mark.parametrize(
    ("third_at", "ready", "closed_at"),
    [(NOW + 900, 3, NOW + 900), (None, 3, None), (NOW + 900, 2, NOW + 36), (None, 2, NOW + 36)],
)
def test_a_workload_that_was_whole_later_was_owed_until_then(
    third_at: float | None, ready: int, closed_at: float | None
) -> None:
    """A replacement ends the debt once as many are ready as were before, whoever of them came last."""
    third = web("third", on="n0", born=NOW + 1, ready_at=third_at)
    world = after(3600, OTHERS[0], web("new", born=NOW + 1, ready_at=NOW + 6), third)
    assert settle(entry(ended_at=NOW + 2, ready=ready), world).closed_at == closed_at


@pytest.mark.parametrize("seconds", [120.0, 121.0])
def test_a_workload_that_wants_fewer_and_has_them_owes_nothing_after_two_minutes(seconds: float) -> None:
    """Whoever scaled it down took the replacement away: nobody was late."""
    found = settle(entry(ended_at=NOW + 2), after(seconds, *OTHERS, replicas=2))
    assert (found.state, found.closed_at) == (
        (EntryState.OPEN, None) if seconds == 120.0 else (EntryState.REPAID, NOW + 2)
    )
    assert settle(entry(), after(500, OTHERS[0], replicas=2)).is_debt


@pytest.mark.parametrize(
    "replacement",
    [
        web("new", born=NOW + 1, ready_at=NOW + 6.1),
        web("new", born=NOW + 1, ready_at=None),
        web("new", born=NOW - 1.5, ready_at=NOW - 1),
        web("new", born=NOW + 1, ready_at=NOW + 1, deletion_at=NOW + 30),
    ],
    ids=["ready for less", "not ready", "older than the eviction", "on its way out"],
)
def test_less_than_that_leaves_the_debt_open(replacement: Pod) -> None:
    """Nobody has replaced the pod yet."""
    assert settle(entry(), after(36, *OTHERS, replacement)).is_debt


@pytest.mark.parametrize(
    "now",
    [
        None,
        web("new", born=NOW + 1, ready_at=None),
        web("new", born=NOW + 1, ready_at=NOW + 20),
        web("new", born=NOW + 1, ready_at=NOW + 2, deletion_at=NOW + 30),
        web("new", born=NOW + 1, ready_at=NOW + 2, uid="another"),
    ],
    ids=["gone", "crashed", "crashed and ready again", "on its way out", "another of its name"],
)
def test_a_list_that_lags_repays_nothing(now: Pod | None) -> None:
    """It shows a replacement at work that has crashed since; the pod as it stands counts. (Soak, seed 500384.)"""
    listed = after(36, *OTHERS, web("new", born=NOW + 1, ready_at=NOW + 2))
    assert settled(ledger_of(entry()), listed, lambda _: now).entries[0].is_debt


def test_another_replacement_that_works_repays() -> None:
    """Of two that came after the eviction only one works still, and its node is told."""
    crashed, works = (web(name, on=node, born=NOW + 1, ready_at=NOW + 2) for name, node in (("a", "n1"), ("b", "n2")))
    listed = after(36, *OTHERS, crashed, works)
    found = settled(ledger_of(entry()), listed, lambda asked: works if asked.name == "web-b" else None).entries[0]
    assert (found.state, found.landed_on) == (EntryState.REPAID, "n2")


def test_a_replacement_made_in_the_same_second_counts() -> None:
    """The API server writes whole seconds, so it may seem older than the eviction by less than one."""
    late = entry(at=NOW + 0.7)
    assert settle(late, after(60, *OTHERS, web("new", born=NOW, ready_at=NOW + 2))).state is EntryState.REPAID
    assert settle(late, after(60, *OTHERS, web("new", born=NOW + 0.5, ready_at=NOW + 2))).is_debt


def test_a_workload_that_is_not_as_complete_as_before_is_owed() -> None:
    """A third pod is missing, for whatever reason."""
    new = web("new", born=NOW + 1, ready_at=NOW + 2)
    assert settle(entry(), after(60, OTHERS[0], new)).is_debt
    assert settle(entry(ready=2), after(60, OTHERS[0], new)).state is EntryState.REPAID


def test_one_replacement_does_not_repay_two_evictions() -> None:
    """Both were sent while three were ready, so three have to be ready again."""
    first, second = entry("web-0"), entry("web-9", at=NOW + 1)
    world = after(60, OTHERS[0], web("new", born=NOW + 2, ready_at=NOW + 3))
    assert all(item.is_debt for item in settled(ledger_of(first, second), world, lambda _: None).entries)


def test_of_two_replacements_each_repays_one_eviction() -> None:
    """Where one was expected on n1 twice, the other one that came is told of the second eviction."""
    both = ledger_of(entry("web-0"), entry("web-9", at=NOW + 1))
    new = (web(name, on=on, born=NOW + 2, ready_at=NOW + 3) for name, on in (("a", "n1"), ("b", "n2")))
    world = after(60, OTHERS[0], *new)
    found = settled(both, world, lambda reference: world.pod_by_key.get(reference.key)).entries
    assert [(item.state, item.landed_on) for item in found] == [(EntryState.REPAID, "n1"), (EntryState.REPAID, "n2")]


def test_pods_on_their_way_out_do_not_make_a_workload_complete() -> None:
    """Nor does a pod that nobody owns."""
    new, going = web("new", born=NOW + 1, ready_at=NOW + 2), web("2", on="n2", deletion_at=NOW + 90)
    assert settle(entry(), after(60, OTHERS[0], new, going, pod("bare", node="n1", owner=None))).is_debt


def test_of_two_that_came_the_older_one_is_the_replacement() -> None:
    """Whatever their names are: the debt was over when it had worked for long enough."""
    older, younger = (web(name, born=NOW + at, ready_at=NOW + 5 + 5 * at) for name, at in (("z", 1), ("a", 4)))
    found = settle(entry(), after(100, *OTHERS, older, younger, replicas=4))
    assert (found.state, found.closed_at) == (EntryState.REPAID, NOW + 40)


def test_a_pod_that_is_ready_since_nobody_knows_when_was_so_since_it_was_made() -> None:
    """The workload was whole then at the earliest."""
    third = structs.replace(web("third", on="n0", born=NOW + 900, ready_at=None), is_ready=True)
    found = settle(entry(ended_at=NOW + 2), after(3600, OTHERS[0], web("new", born=NOW + 1, ready_at=NOW + 6), third))
    assert (found.state, found.closed_at) == (EntryState.REPAID, NOW + 900)


def test_an_owner_that_is_known_by_its_pods_alone_is_made_whole_by_them() -> None:
    """What it wants is not told: so many as were there."""

    def custom(name: str, on: str, born: float) -> Pod:
        return pod(f"web-{name}", node=on, owner="web", kind="CloneSet", created_at=born, ready_at=NOW + 2)

    first, second, new = custom("1", "n0", OLD), custom("2", "n2", OLD), custom("new", "n1", NOW + 1)
    item = entry(workload_key="CloneSet default/web")
    assert settle(item, after(60, first, second, new, owner=False)).state is EntryState.REPAID
    assert settle(item, after(60, second, new, owner=False)).is_debt
    assert settle(item, after(500, first, second, owner=False)).is_debt


def test_a_workload_of_which_no_pod_is_left_is_not_gone() -> None:
    """Nor does it want fewer pods than before."""
    assert settle(entry(), after(500)).is_debt


def test_a_workload_that_wants_as_many_as_before_owes_a_pod_until_one_came() -> None:
    """Even where so many are ready, all of them from before."""
    assert settle(entry(), after(500, *OTHERS, web("3"))).is_debt


def test_a_replacement_that_came_back_has_failed() -> None:
    """The debt is over all the same: the workload is complete."""
    found = settle(entry(), after(60, *OTHERS, web("new", on="n0", born=NOW + 1, ready_at=NOW + 6)))
    assert (found.state, found.landed_on, found.is_debt) == (EntryState.FAILED, "n0", False)


@pytest.mark.parametrize(
    ("answer", "state", "landed_on"),
    [
        ({"ended_at": NOW + 170.0}, EntryState.FAILED, "n0"),
        ({"ended_at": NOW + 170.0, "is_in_doubt": True}, EntryState.REPAID, "n1"),
        ({"ended_at": None}, EntryState.REPAID, "n1"),
    ],
    ids=["answered", "its answer was lost", "nobody knows when"],
)
def test_who_came_before_the_eviction_is_not_taken_for_its_replacement(
    answer: dict[str, Any], state: EntryState, landed_on: str
) -> None:
    """A process was stopped before it sent; meanwhile the workload grew by a pod where the replacement was expected.

    The replacement came back to the node that it was moved from: nothing was gained, and it is left alone for longer.
    Who came first is asked only where it is known when the eviction was granted.
    """
    grown = web("grown", born=NOW + 150, ready_at=NOW + 155)
    back = web("back", on="n0", born=NOW + 170, ready_at=NOW + 175)
    found = settle(entry(**answer), after(300, *OTHERS, grown, back, replicas=4))
    assert (found.state, found.landed_on) == (state, landed_on)


def test_where_the_run_saw_it_land_stays() -> None:
    """A later look at the workload's pods does not know better."""
    found = settle(entry(landed_on="n2"), after(60, *OTHERS, web("new", born=NOW + 1, ready_at=NOW + 6)))
    assert found.landed_on == "n2"


@pytest.mark.parametrize(("seconds", "state"), [(90.0, EntryState.OPEN), (90.2, EntryState.NOT_EVICTED)])
def test_a_lost_answer_is_in_doubt_for_ninety_seconds(seconds: float, state: EntryState) -> None:
    """Counted from the end of the request; then a pod that still stands was not evicted."""
    item = entry(is_in_doubt=True, ended_at=NOW + 0.1)
    found = settle(item, after(seconds, web("0", on="n0"), *OTHERS))
    assert (found.state, found.is_in_doubt) == (state, state is EntryState.OPEN)


@pytest.mark.parametrize(("seconds", "state"), [(134.9, EntryState.INTENDED), (135.0, EntryState.NOT_EVICTED)])
def test_an_intent_of_a_killed_process_may_have_been_sent_a_little_later(seconds: float, state: EntryState) -> None:
    """The longest that announcing and asking take are added to the ninety seconds."""
    item = entry(state=EntryState.INTENDED, ended_at=None)
    assert settle(item, after(seconds, web("0", on="n0"), *OTHERS)).state is state


@pytest.mark.parametrize("state", [EntryState.INTENDED, EntryState.OPEN])
@pytest.mark.parametrize("listed", [(), (web("0", on="n0", deletion_at=NOW + 30),)], ids=["gone", "terminating"])
def test_a_look_at_the_past_does_not_outweigh_a_list_without_the_pod(
    state: EntryState, listed: tuple[Pod, ...]
) -> None:
    """The pod that the look shows has left; whether it was evicted stays open. (Soak, seed 810351.)"""
    world = after(500, *listed, *OTHERS)
    found = settled(ledger_of(entry(state=state, is_in_doubt=True)), world, lambda _: web("0", on="n0")).entries[0]
    assert found.is_debt


@pytest.mark.parametrize("state", [EntryState.INTENDED, EntryState.OPEN])
@pytest.mark.parametrize("left", [(), (web("0", on="n0", deletion_at=NOW + 30),)], ids=["gone", "terminating"])
def test_a_pod_that_left_after_a_lost_answer_was_evicted(state: EntryState, left: tuple[Pod, ...]) -> None:
    """From then on it is a debt like any other, however long ago it was."""
    found = settle(entry(state=state, is_in_doubt=True), after(500, *left, *OTHERS))
    assert (found.state, found.is_in_doubt) == (EntryState.OPEN, False)


def test_an_accepted_eviction_is_never_taken_back() -> None:
    """A reader that is behind shows the pod unharmed: that proves nothing."""
    assert settle(entry(), after(500, web("0", on="n0"), *OTHERS)).state is EntryState.OPEN


def test_a_pod_of_the_same_name_and_another_uid_is_another_pod() -> None:
    """The pod of a StatefulSet was evicted, and its successor stands where it stood."""
    item = entry(is_in_doubt=True)
    successor = web("0", on="n0", born=NOW + 1, ready_at=NOW + 5, uid="another")
    assert settle(item, after(100, successor, *OTHERS)).state is EntryState.FAILED
    assert settle(item, after(20, successor, *OTHERS)).state is EntryState.OPEN


def test_a_workload_that_is_gone_owes_nothing() -> None:
    """But one that is known by its pods alone may be between two pods."""
    found = settle(entry(ended_at=NOW + 1), after(5000, owner=False))
    assert (found.state, found.closed_at) == (EntryState.REPAID, NOW + 1)
    custom = entry(workload_key="CloneSet default/web")
    assert settle(custom, after(3600, owner=False)).is_debt
    assert settle(custom, after(86400, owner=False)).is_debt
    assert settle(custom, after(86401, owner=False)).state is EntryState.FAILED


@pytest.mark.parametrize(
    ("key", "is_gone"),
    [
        ("ReplicaSet default/web", True),
        ("Deployment default/web", True),
        ("StatefulSet default/web", True),
        ("ReplicationController default/web", True),
        ("ReplicaSet.example.com default/web", False),
        ("StatefulSet.apps.kruise.io default/web", False),
        ("DeploymentConfig default/web", False),
    ],
)
def test_only_kubernetes_own_owners_are_seen_to_be_gone(key: str, is_gone: bool) -> None:
    """Another group may have a kind of the same name, or of one that begins like it; old keys have no group."""
    assert settle(entry(workload_key=key), after(5, owner=False)).is_debt is not is_gone


def test_an_owner_of_a_kind_that_was_not_read_is_not_gone() -> None:
    """A recording without ReplicaSets says nothing of them."""
    world = replace(after(5, owner=False), absent_kinds=frozenset({"ReplicaSet"}))
    assert settle(entry(), world).is_debt


def test_a_workload_that_was_scaled_down_owes_nothing_after_a_while() -> None:
    """Nobody makes a replacement; it has what it wants now."""
    assert settle(entry(), after(119, *OTHERS, replicas=2)).is_debt
    assert settle(entry(), after(121, *OTHERS, replicas=2)).state is EntryState.REPAID
    assert settle(entry(), after(121, OTHERS[0], replicas=2)).is_debt


def test_a_pod_without_an_owner_is_owed_until_it_is_gone() -> None:
    """Nothing recreates it."""
    item = entry("lone", workload="", workload_key="", desired=0, ready=0)
    lone = pod("lone", node="n0", owner=None, deletion_at=NOW + 30)
    assert settle(item, after(10, lone)).is_debt
    assert settle(item, after(40)).state is EntryState.REPAID


def test_closed_entries_are_left_alone_and_nothing_is_looked_at_for_them() -> None:
    """Whatever the world looks like."""
    ledger = ledger_of(entry(state=EntryState.REFUSED), entry(state=EntryState.FAILED))

    def refuse(_: object) -> None:
        raise AssertionError

    assert settled(ledger, after(10_000), refuse) is ledger
