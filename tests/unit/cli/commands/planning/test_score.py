"""``score -o wide`` tells how each score comes about, and JSON stays as it is documented."""

from __future__ import annotations

import re

import pytest

from tests.unit.adapters.api_objects import node_object, pod_object
from tests.unit.cli.desk import KUBE, NODES, STANDING, Desk, waiting

HEAVY = "{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 3}]}}}"


def fit_alone(desk: Desk) -> None:
    """One score, so that the arithmetic is short."""
    desk.file("k.yaml", f"{KUBE}profiles: [{HEAVY}]\n")
    desk.policy("schedulers: [{file: k.yaml}]")


def sections(text: str) -> dict[str, list[str]]:
    """Lines under each node's name, joined where they were wrapped."""
    found: dict[str, list[str]] = {}
    for block in text.split("\n\n")[1:]:
        heading, *lines = block.rstrip().splitlines()
        found[heading.split(":")[0]] = re.sub(r" {20,}", " ", "\n".join(lines)).splitlines()
    return found


def test_wide_shows_weight_score_points_and_how_they_come_about(desk: Desk) -> None:
    """One line a plugin under each feasible node, the best node first; --nodes narrows it."""
    fit_alone(desk)
    out = desk.run("score", "default/default-scheduler", "-o", "wide").out
    told = sections(out)
    assert list(told) == ["c", "b", "a"]
    totals = {name: item["total"] for name, item in desk.scores("default-scheduler").items()}
    for name, lines in told.items():
        assert f"\n{name}: {totals[name]}\n" in out
        line = " ".join(" ".join(lines).split())
        score = totals[name] // 3
        assert line.startswith(f"NodeResourcesFit 3 x {score} = {totals[name]} LeastAllocated: cpu 100 x (4 - ")
        assert line.endswith(f"mean {score}")
    chosen = desk.run("score", "default/default-scheduler", "-o", "wide", "--nodes", "b").out
    assert list(sections(chosen)) == ["b"]


def test_a_narrow_terminal_has_the_text_below_its_plugin(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is longer than the terminal, and none is cut."""
    fit_alone(desk)
    monkeypatch.setenv("COLUMNS", "60")
    lines = desk.run("score", "default/default-scheduler", "-o", "wide", "--nodes", "c").out.splitlines()
    assert max(map(len, lines)) <= 60
    start = lines.index("  NodeResourcesFit: 3 x 84 = 252")
    assert " ".join(" ".join(lines[start + 1 :]).split()).endswith("mean 84")


def test_an_infeasible_node_has_reasons_only(desk: Desk) -> None:
    """The table names them; nothing else is said of the node."""
    fit_alone(desk)
    small = node_object("d", allocatable={"cpu": "100m", "memory": "1Gi", "pods": "110"})
    desk.record(*NODES, small, *STANDING, waiting("default-scheduler"))
    out = desk.run("score", "default/default-scheduler", "-o", "wide").out
    assert "Insufficient cpu" in out
    assert list(sections(out)) == ["c", "b", "a"]


def test_the_other_forms_tell_no_arithmetic(desk: Desk) -> None:
    """The table has none; JSON has the documented keys and no more."""
    fit_alone(desk)
    assert "LeastAllocated" not in desk.run("score", "default/default-scheduler").out
    document = desk.document("score", "default/default-scheduler")
    assert {key for item in document["nodes"] for key in item} == {"node", "feasible", "reasons", "scores", "total"}
    assert set(document) == {"kind", "pod", "nodes"}


def test_a_sample_of_nodes_is_told_in_table_and_wide(desk: Desk) -> None:
    """From 100 nodes on the scheduler looks at some of them; JSON keeps quiet."""
    fit_alone(desk)
    nodes = [node_object(f"n{number}") for number in range(120)]
    desk.record(*nodes, pod_object("full", "n0"), waiting("default-scheduler"))
    for form in ("table", "wide"):
        out = " ".join(desk.run("score", "default/default-scheduler", "-o", form, "--nodes", "n1").out.split())
        assert "the scheduler scores 100 of the 120 feasible nodes, and which cannot be known: " in out
        assert "the pod may go to any of the 119 nodes with a total of" in out
    small = desk.run("score", "default/default-scheduler", "-o", "json").out
    assert "the scheduler scores" not in small
