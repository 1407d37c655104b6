"""What the side-by-side comparison counts, and how it judges."""

from __future__ import annotations

import dataclasses
import os
import resource
import sys

import numpy as np
import pytest

from benchmarks.side_by_side.contenders import OURS, PACKED, PEER, STOCK
from benchmarks.side_by_side.cycles import Cycle, came_back, is_over
from benchmarks.side_by_side.footprint import Footprint, run_measured
from benchmarks.side_by_side.goals import goals
from benchmarks.side_by_side.rows import Row, summed
from benchmarks.side_by_side.scenarios import SCENARIOS
from benchmarks.side_by_side.state import StandingPod, State
from benchmarks.side_by_side.table import table

OFFERED = np.array([8.0, 16.0, 10.0])
ROW = Row(
    contender="EmptyNodes", program=OURS, scheduler=STOCK, clusters="seed 0", cycles=2, failed_cycles=0, sent=10,
    evicted=10, refused_by_budget=0, returned=0, pending_before=3, pending=0, emptied=5, least_to_empty=10,
    overload_before=2.0, overload=0.0, least_to_relieve=10, least_to_admit=4, longest_cycle_seconds=5.0,
    longest_planning_seconds=1.0, cpu_seconds=4.0, peak_megabytes=300.0,
)  # fmt: skip
"""Ours at its best, on any kind of cluster."""
PEER_ROW = dataclasses.replace(
    ROW, contender="HighNodeUtilization", program=PEER, evicted=30, emptied=4, pending=2, overload=1.0
)


def pod(name: str, node: str, owner: str = "web", *, uid: str = "", is_daemon: bool = False) -> StandingPod:
    """A pod of 2 cores and 4 bytes; its uid is its name unless said."""
    return StandingPod(name, uid or name, owner, node, is_daemon, np.array([2.0, 4.0, 1.0]))


def state(*pods: StandingPod) -> State:
    """Two nodes."""
    return State({"a": OFFERED, "b": OFFERED}, pods)


def test_a_pod_came_back_when_its_owner_has_a_new_one_on_the_node_it_left() -> None:
    """Not when the new one is elsewhere, of another owner, or was there before."""
    before = state(pod("one", "a"), pod("two", "a"), pod("three", "b"), pod("other", "b", "db"))
    after = state(pod("new", "a"), pod("newer", "b"), pod("three", "b"), pod("other", "b", "db"))
    assert came_back(before, after, ["one", "two"]) == 1
    assert came_back(before, after, ["other"]) == 0
    assert came_back(before, before, ["one"]) == 0


def test_a_pod_that_keeps_its_name_is_known_as_new_by_its_uid() -> None:
    """A StatefulSet's replacement bears the old name."""
    assert came_back(state(pod("db-0", "a")), state(pod("db-0", "a", uid="new")), ["db-0"]) == 1
    assert came_back(state(pod("db-0", "a")), state(pod("db-0", "b", uid="new")), ["db-0"]) == 0


@pytest.mark.parametrize(
    ("cycles", "ends"),
    [
        ([], False), ([(0, 3)], False), ([(0, 3), (0, 0)], True), ([(1, 3)], False), ([(1, 0)], False),
        ([(1, 0), (1, 0)], True), ([(0, 3), (1, 0)], False), ([(1, 0), (0, 0)], True),
    ],
    ids=str,
)  # fmt: skip
def test_work_is_over_when_nothing_is_left_to_evict(cycles: list[tuple[int, int]], ends: bool) -> None:
    """Exit code and evictions of each cycle; a failure is no end unless it comes twice."""
    found = [Cycle(Footprint(code, "", "", 1.0, 1.0, 1.0), count, count, 0, 0, None, "") for code, count in cycles]
    assert is_over(found) is ends


def test_a_node_with_only_daemons_is_empty_and_what_is_above_the_mark_is_overload() -> None:
    """Overload counts in whole nodes, each resource by itself: 6 of 8 cores and 12 of 16 bytes, above a half."""
    found = state(
        pod("agent", "b", is_daemon=True), pod("one", "a"), pod("two", "a"), pod("three", "a"), pod("four", "")
    )
    assert found.empty_nodes() == {"b"}
    assert [one.name for one in found.pending] == ["four"]
    assert found.overload(0.5) == pytest.approx(0.25 + 0.25)
    assert found.overload(0.75) == 0.0


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_contender_at_its_best_reaches_every_goal(scenario: str) -> None:
    """And each goal says what was found."""
    found = goals(scenario, [ROW, PEER_ROW])
    assert all(goal.is_reached for goal in found), found
    assert all(goal.found for goal in found)


@pytest.mark.parametrize(
    ("scenario", "worse"),
    [
        *[(scenario, worse) for scenario in SCENARIOS for worse in (
            {"refused_by_budget": 1}, {"returned": 1}, {"failed_cycles": 1}, {"longest_cycle_seconds": 10.1},
            {"peak_megabytes": 1001.0},
        )],
        ("consolidation", {"evicted": 12}), ("consolidation", {"emptied": 4, "least_to_empty": 10}),
        ("spreading", {"evicted": 12}), ("spreading", {"overload": 1.1, "evicted": 1}),
        ("pending", {"pending": 2, "evicted": 0}), ("pending", {"evicted": 90}),
    ],
    ids=str,
)  # fmt: skip
def test_each_goal_can_be_missed(scenario: str, worse: dict[str, float]) -> None:
    """One figure that is worse than it may be misses exactly one goal."""
    found = goals(scenario, [dataclasses.replace(ROW, **worse), PEER_ROW])  # type: ignore[arg-type]
    assert [goal.is_reached for goal in found].count(False) == 1, found


def test_ours_is_compared_under_the_same_scheduler() -> None:
    """A peer that a packing scheduler helps does not stand beside ours without one."""
    helped = dataclasses.replace(PEER_ROW, scheduler=PACKED, emptied=50)
    assert goals("consolidation", [ROW, helped]) == goals("consolidation", [ROW])


def test_sums_add_what_was_done_and_keep_the_worst_of_what_it_took() -> None:
    """An unknown bound of one cluster makes the sum's unknown."""
    other = dataclasses.replace(ROW, peak_megabytes=400.0, longest_cycle_seconds=3.0, least_to_admit=None)
    found = summed([ROW, other])
    assert (found.evicted, found.least_to_empty, found.least_to_admit) == (20, 20, None)
    assert (found.peak_megabytes, found.longest_cycle_seconds, found.clusters) == (400.0, 5.0, "all 2")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_kind_of_cluster_has_a_table(scenario: str) -> None:
    """As many cells in each line; what is unknown or endless has a sign."""
    lines = table(scenario, [ROW, dataclasses.replace(PEER_ROW, emptied=0, overload=2.0, least_to_admit=None)]).split(
        "\n"
    )
    assert len({line.count("|") for line in lines}) == 1
    assert f"{PEER} HighNodeUtilization" in lines[3]
    assert ("–" if scenario == "pending" else "∞") in lines[3]


def test_a_run_tells_its_own_memory_and_not_its_starters() -> None:
    """A program that takes 64 MiB is seen to; one that takes nothing is seen to hold less than this process has."""
    taking = run_measured([sys.executable, "-c", "print(len(b'x' * 2**26))"], timeout_seconds=60)
    assert (taking.code, taking.output.strip()) == (0, str(2**26))
    assert taking.peak_megabytes > 64
    assert taking.wall_seconds > 0
    idle = run_measured(["/bin/sh", "-c", "exit 3"], timeout_seconds=60)
    assert idle.code == 3
    assert idle.peak_megabytes < min(64, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def test_a_run_that_takes_too_long_is_ended() -> None:
    """Its code says so, and what it held is told all the same."""
    found = run_measured([sys.executable, "-c", "import signal; signal.pause()"], timeout_seconds=1)
    assert found.code == 124
    assert found.peak_megabytes > 0


def test_a_program_that_is_not_there_is_named() -> None:
    """No figures are made up for it."""
    with pytest.raises(RuntimeError, match=f"{os.sep}no{os.sep}such could not be run"):
        run_measured([f"{os.sep}no{os.sep}such"], timeout_seconds=1)
