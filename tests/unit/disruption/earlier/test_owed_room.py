"""Tests of the room that is kept for replacements which nobody has made yet."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.earlier.owed_room import placed_by, with_owed_room
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.objects.resources import CPU, MEMORY, PODS
from tests.builders import NOW, cluster, node, pod, taint, workload
from tests.unit.disruption.ledgers import entry, ledger
from tests.unit.execution.worlds import plan_of

UID = "uid-default-web-1"
GOING: dict[str, Any] = {"owner": "web", "kind": "StatefulSet", "deletion_at": NOW + 3000, "created_at": NOW - 5000}


def going(name: str = "web-1", **fields: Any) -> Any:
    """A pod that was evicted and takes its time to go."""
    return pod(name, node="n1", cpu="1500m", memory="1Gi", **{**GOING, **fields})


def one_debt(**fields: Any) -> Ledger:
    """The ledger with the eviction of web-1, which was to go to n2."""
    return ledger(entry(1, ago=500, state=EntryState.OPEN, **fields))


def offered(seen: Cluster, name: str) -> dict[str, int]:
    """What a node has for pods."""
    return dict(seen.node_by_name[name].allocatable)


def nodes(**second: Any) -> list[Any]:
    """Three nodes, the third a little larger than the second."""
    return [node("n1", cpu="2"), node("n2", **{"cpu": "2", **second}), node("n3", cpu="3")]


def test_room_is_kept_where_the_replacement_is_expected() -> None:
    """What the pod asks for, and its slot; other nodes keep theirs."""
    seen = with_owed_room(cluster(*nodes(), going()), one_debt())
    before = offered(cluster(*nodes()), "n2")
    after = offered(seen, "n2")
    assert before[CPU] - after[CPU] == 1500
    assert before[MEMORY] - after[MEMORY] == 2**30
    assert before[PODS] - after[PODS] == 1
    assert offered(seen, "n1") == offered(cluster(*nodes()), "n1")
    assert offered(seen, "n3") == offered(cluster(*nodes()), "n3")


@pytest.mark.parametrize("debts", [EMPTY_LEDGER, ledger(entry(1, ago=500))])
def test_nothing_is_owed_without_an_open_debt(debts: Ledger) -> None:
    """The very same snapshot comes back."""
    seen = cluster(*nodes(), going())
    assert with_owed_room(seen, debts) is seen


def test_nothing_is_owed_where_the_old_pod_is_gone() -> None:
    """Then its replacement is there, pending or bound, and speaks for itself."""
    seen = cluster(*nodes(), pod("web-1", uid="new", node="n2", owner="web", kind="StatefulSet"))
    assert with_owed_room(seen, one_debt()) is seen


def test_who_came_after_an_eviction_is_its_replacement() -> None:
    """As of a ReplicaSet, which does not wait for the old pod to go; one that came before is not."""
    came = pod("web-9", owner="web", kind="StatefulSet", created_at=float(int(NOW - 500)))
    seen = cluster(*nodes(), going(), came)
    assert with_owed_room(seen, one_debt()) is seen
    earlier = pod("web-9", owner="web", kind="StatefulSet", created_at=NOW - 502)
    assert offered(with_owed_room(cluster(*nodes(), going(), earlier), one_debt()), "n2")[CPU] == 500


def test_who_only_claims_to_be_a_replacement_is_none() -> None:
    """A pod that its owner's selector does not match may name the owner all the same; the room is kept."""
    forged = pod("x", owner="web", kind="StatefulSet", created_at=NOW - 100, labels={"app": "other"})
    owner = workload("web", 3, kind="StatefulSet")
    assert offered(with_owed_room(cluster(*nodes(), owner, going(), forged), one_debt()), "n2")[CPU] == 500


@pytest.mark.parametrize("fields", [{"deletion_at": NOW}, {"phase": "Failed"}, {"owner": "db"}])
def test_others_are_no_replacement(fields: dict[str, Any]) -> None:
    """Neither who is on the way out, nor who has failed, nor another owner's pod."""
    given = {"owner": "web", "kind": "StatefulSet", "created_at": NOW - 100, **fields}
    seen = cluster(*nodes(), going(), pod("web-9", **given))
    assert offered(with_owed_room(seen, one_debt()), "n2")[CPU] == 500


def test_each_replacement_answers_for_one_eviction() -> None:
    """Of two that left, one has come back: room for the other is kept."""
    both = ledger(entry(1, ago=500, state=EntryState.OPEN), entry(2, ago=400, state=EntryState.OPEN, to_node="n3"))
    came = pod("web-9", owner="web", kind="StatefulSet", created_at=NOW - 300)
    seen = with_owed_room(cluster(*nodes(), going(), going("web-2"), came), both)
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (2000, 1500)


@pytest.mark.parametrize("second", [{"cpu": "1"}, {"memory": "512Mi"}])
def test_room_that_is_not_there_any_more_is_kept_on_the_emptiest_other_node(second: dict[str, Any]) -> None:
    """Where the one that was expected is too small by now."""
    seen = with_owed_room(cluster(*nodes(**second), going()), one_debt())
    assert offered(seen, "n2") == offered(cluster(*nodes(**second)), "n2")
    assert offered(seen, "n3")[CPU] == 1500


@pytest.mark.parametrize(
    "third", [{"is_ready": False}, {"is_unschedulable": True}, {"taints": (taint("a"),)}, {"deletion_at": NOW}]
)
def test_no_other_room_is_kept_where_not_everybody_may_go(third: dict[str, Any]) -> None:
    """It could not be used; then nothing is kept."""
    found = [node("n1", cpu="2"), node("n2", cpu="1"), node("n3", cpu="3", **third)]
    seen = with_owed_room(cluster(*found, going()), one_debt())
    assert offered(seen, "n3")[CPU] == 3000


def test_pods_hold_what_they_hold_before_room_is_given_away() -> None:
    """A node whose pods leave too little is not where room is kept, counted with what a resized pod holds."""
    other = pod("other", node="n2", cpu="100m", held=((CPU, 1000),))
    seen = with_owed_room(cluster(*nodes(), going(), other), one_debt())
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (2000, 1500)


def test_room_that_just_suffices_is_room() -> None:
    """To the last millicore, and to the last slot for a pod."""
    assert offered(with_owed_room(cluster(*nodes(cpu="1500m"), going()), one_debt()), "n2").get(CPU, 0) == 0
    full = [node("n1", cpu="2"), node("n2", cpu="2", pods=2), node("n3", cpu="3")]
    one = with_owed_room(cluster(*full, going(), pod("x", node="n2", cpu="100m")), one_debt())
    assert (offered(one, "n2")[CPU], offered(one, "n2")[PODS]) == (500, 1)
    two = with_owed_room(cluster(*full, going(), *(pod(f"x-{n}", node="n2", cpu="100m") for n in range(2))), one_debt())
    assert (offered(two, "n2")[CPU], offered(two, "n3")[CPU]) == (2000, 1500)


def test_room_is_not_kept_twice() -> None:
    """The second replacement finds less where the first has its room, and goes to the node with the most left."""
    both = ledger(entry(1, ago=500, state=EntryState.OPEN), entry(2, ago=400, state=EntryState.OPEN))
    seen = with_owed_room(cluster(*nodes(), going(), going("web-2")), both)
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (500, 1500)


def test_a_pod_of_unknown_age_is_no_replacement() -> None:
    """It may have been there before."""
    seen = cluster(*nodes(), going(), pod("web-9", owner="web", kind="StatefulSet", created_at=None))
    early = ledger(entry(1, ago=NOW - 1.0, state=EntryState.OPEN))
    assert offered(with_owed_room(seen, early), "n2")[CPU] == 500


def waiting(name: str = "web-9", ago: float = 100.0, **fields: Any) -> Any:
    """A replacement that was made and has no node."""
    given = {"owner": "web", "kind": "StatefulSet", "created_at": NOW - ago, "cpu": "1500m", **fields}
    return pod(name, memory="1Gi", **given)


OWNER = workload("web", 3, kind="StatefulSet")


def test_a_replacement_that_waits_for_a_node_is_owed_its_room() -> None:
    """By whoever carries out a plan that names no place for it; one that does has room for it, as has a planner."""
    seen = cluster(*nodes(), OWNER, waiting())
    kept = with_owed_room(seen, one_debt(), placed=())
    assert (offered(kept, "n2")[CPU], offered(kept, "n3")[CPU]) == (500, 3000)
    assert with_owed_room(seen, one_debt(), placed=[waiting().uid]) is seen
    assert with_owed_room(seen, one_debt()) is seen


def test_room_is_owed_beside_an_old_pod_that_still_goes() -> None:
    """Once, and not for the old one and for its replacement."""
    kept = with_owed_room(cluster(*nodes(cpu="4"), OWNER, going(), waiting()), one_debt(), placed=())
    assert (offered(kept, "n2")[CPU], offered(kept, "n3")[CPU]) == (2500, 3000)


@pytest.mark.parametrize(
    "fields",
    [{"node": "n3"}, {"ago": 600.0}, {"owner": "db"}, {"deletion_at": NOW}, {"phase": "Failed"}],
)
def test_nothing_is_owed_to_others_that_wait(fields: dict[str, Any]) -> None:
    """Who has a node, was there before, is another's, or is on the way out."""
    owners = [workload(name, 1, kind="StatefulSet") for name in ("web", "db")]
    seen = cluster(*nodes(), *owners, waiting(**fields))
    assert with_owed_room(seen, one_debt(), placed=()) is seen


def test_who_only_claims_to_wait_for_an_owner_is_owed_nothing() -> None:
    """Its owner's selector does not match it."""
    seen = cluster(*nodes(), OWNER, waiting(labels={"app": "other"}))
    assert with_owed_room(seen, one_debt(), placed=()) is seen


def test_of_two_that_left_the_one_whose_replacement_waits_is_owed_room() -> None:
    """The replacement that has a node came after both; the other one came before the second left."""
    both = ledger(entry(1, ago=500, state=EntryState.OPEN), entry(2, ago=200, state=EntryState.OPEN, to_node="n3"))
    kept = with_owed_room(cluster(*nodes(), OWNER, waiting(ago=400), waiting("web-8", node="n3")), both, placed=())
    assert (offered(kept, "n2")[CPU], offered(kept, "n3")[CPU]) == (500, 3000)


def test_room_is_owed_where_the_replacement_may_go() -> None:
    """By what it selects, what it tolerates, and whether the node takes pods at all."""
    bare = {"is_unschedulable": True}
    wish = {"node_selector": (("disk", "ssd"),)}
    seen = cluster(*nodes(), node("n4", cpu="2", labels={"disk": "ssd"}), OWNER, waiting(**wish))
    assert offered(with_owed_room(seen, one_debt(), placed=()), "n4")[CPU] == 500
    closed = cluster(*nodes(**bare), OWNER, waiting())
    assert offered(with_owed_room(closed, one_debt(), placed=()), "n3")[CPU] == 1500
    tolerant = waiting(tolerations=(Toleration("a", "Exists"),))
    banned = cluster(*nodes(taints=(taint("a"),)), OWNER, tolerant)
    assert offered(with_owed_room(banned, one_debt(), placed=()), "n2")[CPU] == 500


@pytest.mark.parametrize("moved", ["web-1", "other-0"])
def test_a_pod_that_the_plan_itself_leads_somewhere_is_owed_nothing_beside_it(moved: str) -> None:
    """Its eviction by an earlier run came to nothing, and it still stands; the plan names its place anew."""
    standing = going(deletion_at=None)
    seen = cluster(*nodes(), standing, pod("other-0", node="n1"))
    plan = plan_of(seen, [(moved, "n2", 1)])
    kept = offered(with_owed_room(seen, one_debt(), placed_by(plan)), "n2")[CPU]
    assert kept == (2000 if moved == "web-1" else 500)


def test_a_pod_that_is_going_is_owed_a_place_whatever_the_plan_says_of_it() -> None:
    """Its replacement is still to be made, and needs one."""
    seen = cluster(*nodes(), going())
    assert offered(with_owed_room(seen, one_debt(), placed_by(plan_of(seen, [("web-1", "n3", 1)]))), "n2")[CPU] == 500


def test_a_plan_names_places_for_those_it_moves_and_those_it_lets_in() -> None:
    """By uid; nobody else's."""
    seen = cluster(*nodes(), going(), pod("big-0"), pod("late-0"))
    placed = placed_by(plan_of(seen, [("web-1", "n3", 1)], [("big-0", "n2", 1)]))
    assert placed == {seen.pod_by_key[f"default/{name}"].uid for name in ("web-1", "big-0")}


def test_room_is_kept_where_the_old_pod_is_gone_and_its_owner_can_make_no_other() -> None:
    """Such as for a full quota: it comes when the owner can, and is like its siblings."""
    sibling = pod("web-2", node="n1", cpu="1500m", owner="web", created_at=NOW - 5000)
    debt = one_debt(workload="uid-default-web")
    seen = cluster(*nodes(), sibling, workload("web", 2))
    assert offered(with_owed_room(seen, debt), "n2")[CPU] == 500
    assert offered(with_owed_room(seen, debt, ()), "n2")[CPU] == 500


@pytest.mark.parametrize("others", [
    [workload("web", 1)],
    [workload("web", 2), pod("web-3", node="n3", owner="web", created_at=NOW - 100)],
    [workload("web", 3), pod("web-3", node="n3", owner="web", created_at=NOW - 100)],
    [workload("web", 2), pod("web-1", uid=UID, node="n3", owner="web", created_at=NOW - 5000)],
])  # fmt: skip
def test_nothing_is_kept_for_pods_that_nobody_will_make_or_that_came(others: list[Any]) -> None:
    """Fewer are wanted now; it has come; another is missing than the one that was evicted; it stands all the same."""
    sibling = pod("web-2", node="n1", cpu="1500m", owner="web", created_at=NOW - 5000)
    seen = cluster(*nodes(), sibling, *others)
    assert offered(with_owed_room(seen, one_debt(workload="uid-default-web"), {UID}), "n2")[CPU] == 2000


def test_no_more_room_is_kept_than_pods_are_missing() -> None:
    """Of two evicted pods one has been replaced by nobody, and the workload wants one more; the last to leave first."""
    sibling = pod("web-9", node="n1", cpu="1500m", owner="web", created_at=NOW - 5000)
    fields: dict[str, Any] = {"ago": 500, "state": EntryState.OPEN, "workload": "uid-default-web"}
    debts = ledger(entry(1, **fields), entry(2, **{**fields, "ago": 400}, to_node="n3"))
    seen = with_owed_room(cluster(*nodes(), sibling, workload("web", 2)), debts)
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (2000, 1500)
    seen = with_owed_room(cluster(*nodes(), sibling, workload("web", 3)), debts)
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (500, 1500)


def test_one_that_came_stands_in_for_one_that_left() -> None:
    """Of two evicted pods one was replaced and the other not; an owner that tells no number is owed nothing."""
    pods = [
        pod("web-8", node="n1", cpu="1500m", owner="web", created_at=NOW - 5000),
        pod("web-9", node="n1", cpu="100m", owner="web", created_at=NOW - 300),
    ]
    fields: dict[str, Any] = {"ago": 500, "state": EntryState.OPEN, "workload": "uid-default-web"}
    debts = ledger(entry(1, **fields), entry(2, **{**fields, "ago": 400}, to_node="n3"))
    seen = with_owed_room(cluster(*nodes(), *pods, workload("web", 3)), debts)
    assert (offered(seen, "n2")[CPU], offered(seen, "n3")[CPU]) == (500, 3000)
    silent = cluster(*nodes(), *pods, workload("web", 3, desired_replicas=None))
    assert with_owed_room(silent, debts) is silent


def test_of_a_workload_without_any_pod_nothing_tells_what_the_next_one_needs() -> None:
    """No room is kept, and nothing fails."""
    seen = cluster(*nodes(), workload("web", 1))
    assert with_owed_room(seen, one_debt(workload="uid-default-web")) is seen


def test_who_waits_beside_a_replacement_that_has_its_node_is_owed_nothing() -> None:
    """The eviction is made good by the one that came and found a node, in whatever order they stand."""
    seen = cluster(
        *nodes(), workload("web", 2, kind="StatefulSet"), waiting(name="web-7"), waiting(name="web-8", node="n3")
    )
    assert with_owed_room(seen, one_debt(), placed=()) is seen
