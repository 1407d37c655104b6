"""Who leaves a history when a workload shrinks in the archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.batch.backtest.replay.departures import exchanged
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import Workload
from tests.builders import NOW, cluster, node, pod, workload

NODES = (node("a"), node("b"), node("c"))
LATER = NOW + 600.0


def web(name: str, on: str | None, **fields: Any) -> Pod:
    """A pod of ``web``, made a day ago."""
    return pod(name, node=on, owner="web", uid=name, **fields)


def moved(one: Pod, on: str | None) -> Pod:
    """As a history has it that has just moved it; None: it waits."""
    new = structs.replace(one, node_name=on, created_at=NOW, uid=f"new {one.uid}")
    if on is None:
        return structs.replace(new, phase="Pending", is_ready=False)
    return structs.replace(new, ready_at=NOW)


def left(earlier: Cluster, history: Mapping[str, Pod], *rest: str, owner: Workload) -> dict[str, str]:
    """What becomes of a history when only ``rest`` are left in the archive."""
    pods = [one for one in earlier.pods if one.name in rest]
    stood = {one.uid: history.get(one.name, one) for one in earlier.pods}
    return exchanged(earlier, stood, cluster(*NODES, *pods, owner, taken_at=LATER))


THREE = (web("w-0", "a"), web("w-1", "b"), web("w-2", "c"))
EARLIER = cluster(*NODES, *THREE, workload("web", 3))


def test_where_nothing_but_the_archive_touched_a_workload_those_go_that_went() -> None:
    """The controller has chosen among the very same pods; and where all of them go there is no choice."""
    assert left(EARLIER, {}, "w-0", "w-1", owner=workload("web", 2)) == {}
    assert left(EARLIER, {"w-0": moved(THREE[0], "b")}, owner=workload("web", 0)) == {}


def test_the_pod_that_was_moved_goes_where_the_archive_lost_another() -> None:
    """It is the youngest there. The one that the archive keeps takes the place of the one that it lost."""
    assert left(EARLIER, {"w-0": moved(THREE[0], "b")}, "w-0", "w-1", owner=workload("web", 2)) == {
        "w-0": "w-2",
        "w-2": "w-0",
    }
    assert left(EARLIER, {"w-2": moved(THREE[2], "b")}, "w-0", "w-1", owner=workload("web", 2)) == {}


@pytest.mark.parametrize(("uid", "found"), [("a", {"w-0": "w-2", "w-2": "w-0"}), ("x", {})])
def test_of_pods_about_as_old_the_lower_uid_of_the_history_goes(uid: str, found: dict[str, str]) -> None:
    """What replaced an evicted pod has drawn one of its own; of pods alike in all the one that the archive lost."""
    replaced = structs.replace(THREE[2], node_name="b", created_at=NOW - 80_000.0, uid=uid)
    assert left(EARLIER, {"w-2": replaced}, "w-1", "w-2", owner=workload("web", 2)) == found


def test_one_that_waits_goes_before_all_others() -> None:
    """So nobody waits for a node whom nobody wants."""
    history = {"w-0": moved(THREE[0], "b"), "w-1": moved(THREE[1], None)}
    found = left(EARLIER, history, "w-0", "w-2", owner=workload("web", 2))
    assert found == {}
    found = left(EARLIER, history, "w-0", "w-1", owner=workload("web", 2))
    assert found == {"w-1": "w-2", "w-2": "w-1"}


def test_of_a_pod_that_is_deleted_while_nobody_shrinks_the_archive_says_which_it_is() -> None:
    """It goes wherever it stands, though its controller would have taken another."""
    assert left(EARLIER, {"w-0": moved(THREE[0], "b")}, "w-0", "w-1", owner=workload("web", 3)) == {}


def test_of_those_that_leave_as_many_are_chosen_as_there_were_too_many() -> None:
    """Of two that went one was deleted by itself: the one that its controller would have kept longer in the archive."""
    young = structs.replace(THREE[2], created_at=NOW - 60.0)
    earlier = cluster(*NODES, *THREE[:2], young, workload("web", 3))
    history = {"w-0": moved(THREE[0], "b")}
    assert left(earlier, history, "w-0", owner=workload("web", 2)) == {"w-0": "w-2", "w-2": "w-0"}
    assert left(earlier, history, "w-0", owner=workload("web", 3)) == {}


def test_one_that_still_terminates_has_left() -> None:
    """It holds its room, in the place of the one that leaves in the history."""
    recorded = cluster(
        *NODES, *THREE[:2], structs.replace(THREE[2], deletion_at=LATER), workload("web", 2), taken_at=LATER
    )
    stood = {one.uid: one for one in THREE} | {"w-0": moved(THREE[0], "b")}
    assert exchanged(EARLIER, stood, recorded) == {"w-0": "w-2", "w-2": "w-0"}
    finished = cluster(
        *NODES, *THREE[:2], structs.replace(THREE[2], phase="Failed"), workload("web", 2), taken_at=LATER
    )
    assert exchanged(EARLIER, stood, finished) == {}


@pytest.mark.parametrize("kind", ["StatefulSet", "Job", "DaemonSet", "CloneSet"])
def test_only_replica_sets_choose(kind: str) -> None:
    """A StatefulSet lets its highest number go, a Job who has done his work; of other kinds nobody knows."""
    owner = (OwnerReference(kind, "web", "uid-default-web"),)
    pods = [structs.replace(one, owners=owner) for one in THREE]
    earlier = cluster(*NODES, *pods, workload("web", 3, kind=kind))
    assert left(earlier, {"w-0": moved(pods[0], "b")}, "w-0", "w-1", owner=workload("web", 2, kind=kind)) == {}


def test_of_an_owner_that_the_archive_does_not_hold_nobody_knows_what_it_wanted() -> None:
    """Pods go by their uids; those of a ReplicationController are chosen as those of a ReplicaSet."""
    stood = {one.uid: one for one in THREE} | {"w-0": moved(THREE[0], "b")}
    assert exchanged(EARLIER, stood, cluster(*NODES, *THREE[:2], taken_at=LATER)) == {}
    kind = "ReplicationController"
    assert left(EARLIER, {"w-0": moved(THREE[0], "b")}, "w-0", "w-1", owner=workload("web", 2, kind=kind)) != {}


def test_in_a_rollout_company_of_the_other_replica_set_counts() -> None:
    """The old one shrinks, and takes first who stands beside a new pod of the Deployment."""
    above = OwnerReference("Deployment", "web", "uid-deployment")
    new = pod("n-0", node="b", owner="new", uid="n-0")
    sets = [workload("new", 1, owner=above), workload("web", 2, owner=above)]
    old = structs.replace(THREE[0], created_at=NOW - 10 * 86400.0)
    earlier = cluster(*NODES, old, *THREE[1:], new, *sets)
    stood = {one.uid: one for one in earlier.pods} | {"w-0": structs.replace(old, node_name="b")}
    stood["w-1"] = structs.replace(THREE[1], node_name="a")
    recorded = cluster(*NODES, old, THREE[1], new, *sets, taken_at=LATER)
    assert exchanged(earlier, stood, recorded) == {"w-0": "w-2", "w-2": "w-0"}
    stood["w-0"], stood["w-1"] = structs.replace(old, uid="new"), THREE[1]
    assert exchanged(earlier, stood, recorded) == {"w-1": "w-2", "w-2": "w-1"}


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", None]), st.booleans()), max_size=8),
    st.integers(0, 8),
)
def test_places_are_exchanged_and_nothing_else(pods: list[tuple[str, str | None, bool]], wanted: int) -> None:
    """One for one, between one that leaves the archive and one that stays, never more than there were too many."""
    recorded = [web(f"w-{at}", on) for at, (on, _, _) in enumerate(pods)]
    earlier = cluster(*NODES, *recorded, workload("web", len(pods)))
    history = {one.name: moved(one, on) for one, (_, on, _) in zip(recorded, pods, strict=True)}
    rest = [one.name for one, (_, _, stays) in zip(recorded, pods, strict=True) if stays]
    found = left(earlier, history, *rest, owner=workload("web", wanted))
    assert all(found[place] == uid and uid != place for uid, place in found.items())
    assert all((uid in rest) != (place in rest) for uid, place in found.items())
    assert len(found) / 2 <= max(0, min(len(pods) - wanted, len(pods) - len(rest)))
