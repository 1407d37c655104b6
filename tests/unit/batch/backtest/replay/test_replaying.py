"""A history goes on from what it did: moved stays moved, arrivals wait, and the rules of ``run`` bind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rescheduler.batch.backtest.policy_variants import read_variants
from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest
from rescheduler.batch.backtest.task import Task
from rescheduler.policy.fields.policy import API_VERSION
from tests.unit.adapters.api_objects import api_object, node_object
from tests.unit.batch.backtest.archives import FREE, START, archive, owned, replica_set, rfc, sparse
from tests.unit.batch.engine.working import Here

HEAD = f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\n"
EMPTY = HEAD + "objectives: [{name: EmptyNodes}]\n"


def replayed(
    tmp_path: Path, policy: str, snapshots: list[list[Any]], every: int = 1200, **task: Any
) -> dict[str, list[dict[str, Any]]]:
    """Rows by policy; snapshots are ``every`` so many seconds."""
    (tmp_path / "policy.yaml").write_text(policy)
    cases = read_variants([str(tmp_path / "policy.yaml")], [])
    like = Task(archive(tmp_path, snapshots, every), (), "", replay=True, **task)
    found = run_backtest(BacktestRequest(like, BacktestSpan()), cases, Here())
    assert found.failures == ()
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in found.document["rows"]:
        rows.setdefault(Path(row["policy"]).stem, []).append(row)
    assert list(rows) == ["policy", "none"]
    return rows


def test_moved_stays_moved(tmp_path: Path) -> None:
    """Nodes are emptied once, and stay empty though the archive goes on as ever; ``none`` moves nothing."""
    rows = replayed(tmp_path, EMPTY + FREE, [sparse()] * 4)
    assert sum(row["evictions"] for row in rows["policy"]) == 2
    assert rows["policy"][-1]["nodesInUse"] == 1
    assert [(row["evictions"], row["nodesInUse"], row["objectives"]) for row in rows["none"]] == [(0, 3, [])] * 4
    assert all(row["churn"] == 0 for row in rows["policy"])
    moved = [move for row in rows["policy"] for move in row["moves"]]
    assert all(move["pod"]["uid"].startswith("uid-Pod-web-") for move in moved)
    assert len({move["toNode"] for move in moved}) == 1


@pytest.mark.parametrize("every", [5, 1200, 7200])
def test_a_round_follows_upon_one_that_moved(tmp_path: Path, every: int) -> None:
    """A pod whose uid comes again is no older state of an API server, on which nothing would be decided."""
    rows = replayed(tmp_path, EMPTY + FREE + "limits: {maxEvictions: 1}\n", [sparse()] * 3, every)["policy"]
    assert [(row["evictions"], row["nodesInUse"]) for row in rows] == [(1, 2), (1, 1), (0, 1)]


def test_what_is_still_carried_out_at_the_next_snapshot_is_no_clock_that_jumped(tmp_path: Path) -> None:
    """Two pods of a workload go one after the other, for half a minute; snapshots are a second apart."""
    slow = FREE.replace("maxUnavailable: 2", "maxUnavailable: 1").replace("settle: 0s", "settle: 0s, clockOffset: 1s")
    other = [*sparse(), replica_set("x", 2), owned("x-0", "a", "x"), owned("x-1", "c", "x")]
    rows = replayed(tmp_path, EMPTY + slow, [sparse(), other], every=1)["policy"]
    assert [(row["evictions"], row["nodesInUse"]) for row in rows] == [(2, 1), (1, 2)]


def test_what_replaces_a_moved_pod_keeps_its_name_and_leaves_with_it(tmp_path: Path) -> None:
    """A pod whose uid is gone from the archive departs from wherever the history has it."""
    left = [
        sparse(*(owned(f"web-{at}", node, "web") for at, node in enumerate("abc") if at != gone)) for gone in (9, 9, 0)
    ]
    rows = replayed(tmp_path, EMPTY + FREE, left)
    assert rows["policy"][-1]["nodesInUse"] == 1
    assert rows["none"][-1]["nodesInUse"] == 2


@pytest.mark.parametrize(("wanted", "then"), [(2, (1, 1)), (3, (0, 1))])
def test_where_a_replica_set_shrinks_its_controller_chooses_who_leaves(
    tmp_path: Path, wanted: int, then: tuple[int, int]
) -> None:
    """Not the one whose uid is gone, whose node stays in use, but the one that was moved, as the youngest.

    One that is deleted while as many are wanted as before is the one that the archive says.
    """
    policy = EMPTY + FREE + "limits: {maxEvictions: 1}\n"
    [move] = replayed(tmp_path / "a", policy, [sparse()])["policy"][0]["moves"]
    left = [(at, node) for at, node in enumerate("abc") if node in (move["fromNode"], move["toNode"])]
    nodes = [node_object(name) for name in "abc"]
    fewer = [*nodes, replica_set("web", wanted), *(owned(f"web-{at}", node, "web") for at, node in left)]
    rows = replayed(tmp_path / "b", policy, [sparse(), fewer])["policy"]
    assert [(row["evictions"], row["nodesInUse"]) for row in rows] == [(1, 2), then]


def test_a_workload_that_is_gone_before_its_replacement_worked_keeps_nothing_back(tmp_path: Path) -> None:
    """Nobody is missing any more: neither freeze nor breaker, however many rounds come after."""
    nodes = [node_object(name) for name in "abc"]
    other = [*nodes, replica_set("x", 2), owned("x-0", "a", "x"), owned("x-1", "c", "x")]
    rows = replayed(tmp_path, EMPTY + FREE + "limits: {maxEvictions: 1}\n", [sparse(), *[nodes] * 60, other], every=20)
    assert [row["evictions"] for row in rows["policy"]] == [1, *[0] * 60, 1]


def test_arrivals_wait_and_are_placed_where_the_history_has_room(tmp_path: Path) -> None:
    """Wherever the archive has them; and a pod that fits nowhere is pending until somebody leaves."""
    nodes = [node_object("a"), node_object("b")]
    big, owners = [owned("big-0", "a", "big", "3")], [replica_set("big", 3)]
    second = [*big, owned("big-1", "a", "big", "3")]  # both on one node of four cores: the archive's own business
    third = [*second, owned("big-2", "b", "big", "3")]
    none = replayed(tmp_path, EMPTY, [[*nodes, *owners, *pods] for pods in (big, second, third, second)])["none"]
    assert [row["pendingAfter"] for row in none] == [0, 0, 1, 0]
    assert [row["nodesInUse"] for row in none] == [1, 2, 2, 2]
    assert [row["pendingMinutes"] for row in none] == [0, 0, 20, 0]


def test_a_pod_whose_node_went_is_pending_and_placed_anew(tmp_path: Path) -> None:
    """Nodes are the archive's."""
    gone = [item for item in sparse() if item["metadata"]["name"] != "a"]
    none = replayed(tmp_path, EMPTY, [sparse(), gone])["none"]
    assert [(row["nodesInUse"], row["pendingAfter"]) for row in none] == [(3, 0), (2, 0)]


def test_a_successor_is_the_same_pod_for_churn(tmp_path: Path) -> None:
    """Evicted, then replaced in the archive by a new pod of its owner, then evicted again: moved twice."""
    first = [owned("x-0", "a", "x"), owned("y-0", "b", "y", "2")]
    owners = [replica_set("x", 1), replica_set("y", 1)]
    nodes = [node_object("a"), node_object("b")]
    later = [owned("x-1", "a", "x"), owned("y-0", "b", "y", "2")]
    policy = EMPTY + FREE.replace("{rates", "{singleReplicas: Allow, rates")
    rows = replayed(tmp_path, policy, [[*nodes, *owners, *first]] * 2 + [[*nodes, *owners, *later]] * 2)["policy"]
    assert [(row["evictions"], row["churn"]) for row in rows] == [(1, 0), (0, 0), (1, 1), (0, 0)]
    assert [row["moves"][0]["pod"]["uid"] for row in rows if row["moves"]] == ["uid-Pod-x-0", "uid-Pod-x-1"]


def test_the_rules_of_run_bind(tmp_path: Path) -> None:
    """Minimum age, rates and ramp-up, which a plan of a recording knows nothing of."""
    careful = EMPTY + FREE.replace("perWorkloadPerHour: unlimited", "perWorkloadPerHour: 1")
    assert [row["evictions"] for row in replayed(tmp_path / "a", careful, [sparse()] * 6)["policy"]].count(1) == 2
    old = EMPTY + FREE.replace("minimumAge: 0s", "minimumAge: 20000h")
    assert {row["evictions"] for row in replayed(tmp_path / "b", old, [sparse()] * 3)["policy"]} == {0}


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    """For histories beside each other."""
    for name in "ab":
        (tmp_path / name).mkdir()


def test_budgets_are_counted_anew(tmp_path: Path) -> None:
    """What the archive wrote into their status may be wrong for the history: here pods are pending that ran there."""
    nodes = [node_object("a"), node_object("b"), node_object("c")]
    budget = api_object(
        "PodDisruptionBudget", "web", namespace="default", version="policy/v1",
        spec={"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
        status={"disruptionsAllowed": 3, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3},
    )  # fmt: skip
    snapshot = [
        *nodes,
        replica_set("web", 3),
        budget,
        *(owned(f"web-{at}", node, "web") for at, node in enumerate("abc")),
    ]
    without = [item for item in snapshot if item["metadata"]["name"] not in ("b", "c")]
    full = [owned("full", "a", "full", "2"), replica_set("full", 1)]
    rows = replayed(tmp_path, EMPTY + FREE, [[*snapshot, *full], [*without, *full]])["policy"]
    assert rows[1]["pendingAfter"] == 1  # room for one of the two whose nodes went
    assert rows[1]["evictions"] == 0


def test_the_same_history_again_says_the_same(tmp_path: Path) -> None:
    """Nothing depends on time or chance."""
    one = replayed(tmp_path / "a", EMPTY, [sparse()] * 3, seed=3)
    other = replayed(tmp_path / "b", EMPTY, [sparse()] * 3, seed=3)
    assert [{**row, "policy": ""} for row in one["policy"]] == [{**row, "policy": ""} for row in other["policy"]]
    assert one["policy"][0]["time"] == rfc(START)
