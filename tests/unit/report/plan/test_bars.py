"""Bars per node: what they say, at any width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, PodReference, SnapshotSummary
from rescheduler.report.plan.bars import BarStyle, node_bars, pending_lines
from tests.builders import cluster, node, pod

PLAN = Plan(
    SnapshotSummary(None, 2, 3, 1, "test"),
    moves=(Move(PodReference("default", "web-0"), "n1", "n2", 1, "MakeRoom", "for big-0"),),
    placements=(PlannedPlacement(PodReference("default", "big-0"), "n1", 1),),
)


def two_nodes() -> Cluster:
    """Two nodes of 4 cores, one with two pods, one empty, and a pending pod."""
    web = [pod(f"web-{number}", "1500m", "4Gi", node="n1") for number in range(2)]
    return cluster(node("n1", memory="16Gi"), node("n2", memory="16Gi"), *web, pod("big-0", "2500m", "1Gi"))


def lines(*arguments: Cluster, width: int = 80, **options: object) -> list[str]:
    """The bars as plain ASCII text."""
    style = BarStyle(width, is_ascii=True)
    return [line.plain for line in node_bars(*arguments, style=style, **options)]  # type: ignore[arg-type]


def test_a_line_tells_free_room_and_pods() -> None:
    """Three of four cores and half the memory are requested on n1, nothing on n2."""
    first, second = lines(two_nodes())
    assert first.startswith("n1 cpu ###############..... 1 mem ##########.......... 8Gi  2/110")
    assert second.startswith("n2 cpu .................... 4 mem .................... 16Gi 0/110")


def test_a_bar_is_full_only_where_nothing_is_free() -> None:
    """Almost full is not drawn as full; beyond full is, with a negative amount."""
    almost, full, over = lines(
        cluster(
            *(node(name, "4") for name in ("a", "b", "c")),
            pod("x", "3999m", "0", node="a"),
            pod("y", "4", "0", node="b"),
            pod("z", "5", "0", node="c"),
        )
    )
    assert "#. 1m" in almost
    assert "#.0" not in full.replace(" ", "")
    assert "## 0 " in full
    assert "## -1 " in over


def test_a_plan_marks_departures_arrivals_and_the_place_that_is_made() -> None:
    """n1 loses one pod and gets the pending one, n2 gains one."""
    first, second = lines(two_nodes(), plan=PLAN)
    assert first.endswith("-1 <- big-0")
    assert second.endswith("+1")
    narrow = lines(two_nodes(), plan=PLAN, width=40)
    assert narrow[0].endswith("<")
    assert narrow[1].endswith("*")


def test_before_and_after_show_what_changed() -> None:
    """A pod went from n1 to n2: 1.5 cores and 4 GiB more and less."""
    after = cluster(
        node("n1", memory="16Gi"),
        node("n2", memory="16Gi"),
        pod("web-1", "1500m", "4Gi", node="n1"),
        pod("web-9", "1500m", "4Gi", node="n2"),
    )
    first, second = lines(after, before=two_nodes())
    assert "2.5 (+1.5)" in first
    assert "12Gi (+4Gi)" in first
    assert "2.5 (-1.5)" in second
    assert "12Gi (-4Gi)" in second


@pytest.mark.parametrize(
    ("fields", "mark"),
    [({"is_unschedulable": True}, "cordoned"), ({"is_ready": False}, "not ready"), ({"problem": "?"}, "unusable")],
)
def test_a_node_that_takes_no_pods_says_so(fields: dict[str, object], mark: str) -> None:
    """Its state stands behind the bars."""
    (line,) = lines(cluster(node("n1", **fields)))  # type: ignore[arg-type]
    assert line.endswith(mark)


@given(
    st.integers(40, 160),
    st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4, unique=True),
    st.booleans(),
)
def test_no_line_is_wider_than_the_screen(width: int, names: list[str], is_ascii: bool) -> None:
    """Whatever the names hold, wide letters and control characters too; nothing unprintable comes out."""
    objects = [item for name in names for item in (node(name), pod(f"p-{name}", "1", node=name))]
    style = BarStyle(width, is_ascii=is_ascii)
    snapshot = cluster(*objects, pod("big\x1b[31m", "9"))
    found = node_bars(snapshot, style=style) + pending_lines(snapshot, style=style)
    assert len(found) == len(names) + 1
    for line in found:
        assert cell_len(line.plain) <= width
        assert line.plain.isprintable()


def test_every_line_at_forty_columns_still_tells_the_free_room() -> None:
    """Name, both bars, both amounts and the pods fit on a narrow screen."""
    first, _ = lines(two_nodes(), width=40)
    assert first.split()[0] == "n1"
    assert {"cpu", "mem", "1", "8Gi", "2/110"} <= set(first.split())


def test_a_large_cluster_shows_the_nodes_of_the_plan_and_counts_the_rest() -> None:
    """Of 60 nodes those that the plan touches are among the rows."""
    snapshot = cluster(*(node(f"m{number:02}") for number in range(58)), node("n1"), node("n2"))
    found = [line.plain for line in node_bars(snapshot, plan=PLAN, style=BarStyle(80, most_nodes=10))]
    assert [line.split()[0] for line in found[-3:-1]] == ["n1", "n2"]
    assert found[-1] == "and 50 more nodes"


def test_off_a_terminal_there_is_no_colour() -> None:
    """Printed into a file, the text carries no control sequences; on a terminal it does."""
    for terminal, coloured in ((False, False), (True, True)):
        out = io.StringIO()
        console = Console(file=out, force_terminal=terminal, width=100, color_system="standard" if terminal else None)
        for line in node_bars(two_nodes()):
            console.print(line)
        assert ("\x1b[" in out.getvalue()) == coloured


def test_pending_pods_are_named_with_what_they_ask_for() -> None:
    """One line each, counted beyond the limit."""
    snapshot = cluster(pod("a", "2500m", "1Gi"), pod("b", "1", "512Mi"))
    found = [line.plain for line in pending_lines(snapshot)]
    assert found == [
        "pending: default/a asks for 2.5 cpu, 1Gi memory",
        "pending: default/b asks for 1 cpu, 512Mi memory",
    ]
    assert pending_lines(snapshot, style=BarStyle(most_nodes=1))[-1].plain == "and 1 more pending pods"


def test_an_empty_cluster_has_no_bars() -> None:
    """Nothing to draw is no error."""
    assert node_bars(cluster()) == []
    assert pending_lines(cluster()) == []
