"""``plan``: options reach the planner, every form is printed, exit codes are those of the contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.cli.commands.planning.plan import parse_node_shape
from rescheduler.extension_points import ClusterError, SnapshotError
from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.what_if import NodeShape
from rescheduler.report.documents import to_json
from tests.unit.cli.conftest import Answer, World
from tests.unit.policy.policies import HEAD
from tests.unit.report.plans import small_plan

# Tests of shapes of nodes as people write them.


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("cpu=16,memory=64Gi", NodeShape(1, "", (("cpu", 16000), ("memory", 64 * 2**30)))),
        (" 2xcpu=500m, memory=1Gi ", NodeShape(2, "", (("cpu", 500), ("memory", 2**30)))),
        ("cpu=1,memory=1,nvidia.com/gpu=0,pods=5", NodeShape(1, "", (("cpu", 1000), ("memory", 1), ("pods", 5)))),
        ("cpu=1,memory=1,nvidia.com/gpu=8", NodeShape(1, "", (("cpu", 1000), ("memory", 1), ("nvidia.com/gpu", 8)))),
        ("like:n1", NodeShape(1, "n1")),
        ("10xlike:n1", NodeShape(10, "n1")),
        ("type:c-4x", NodeShape(place=("c-4x", None, None, None))),
        ("2xtype:c-4x, zone=a,capacity=spot,pool=web", NodeShape(2, place=("c-4x", "spot", "a", "web"))),
    ],
)
def test_shapes_are_read(text: str, shape: NodeShape) -> None:
    """Counts, resources, and nodes that there are."""
    assert parse_node_shape(text) == shape


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found ''; wanted a shape such as cpu=16,memory=64Gi"),
        ("big", "found 'big'; wanted a shape"),
        ("cpu=0,memory=1Gi", "cpu: 0; a node needs some of it"),
        ("cpu=1", "memory: missing; a node needs some of it"),
        ("cpu=-1,memory=1Gi", "cpu: '-1' is negative"),
        ("cpu=x,memory=1Gi", "cpu: 'x' is not a quantity"),
        ("cpu=1,cpu=2,memory=1Gi", "cpu stands twice"),
        ("cpu=1,memory=1Gi,", "found ''"),
        ("cpu=1,memory=1Gi,pods=0", "pods: 0"),
        ("cpu=1,memory=9999999E", "memory: '9999999E' is out of range"),
        ("0xcpu=1,memory=1", "found 0 nodes; wanted 1 to 1000"),
        ("1001xlike:n1", "found 1001 nodes"),
        ("like:", "which names no node"),
        ("type:", "which names no type"),
        ("type:zone=a", "which names no type"),
        ("type:c-4x,zone", "behind a type stand capacity, zone, pool, each =VALUE"),
        ("type:c-4x,cpu=4", "behind a type stand capacity, zone, pool, each =VALUE"),
        ("type:c-4x,zone=a,zone=b", "zone stands twice"),
        ("a b=1,cpu=1,memory=1", "found 'a b=1'"),
    ],
)
def test_what_is_no_shape_says_what_was_wanted(text: str, told: str) -> None:
    """Never a traceback."""
    with pytest.raises(ValueError, match=r".") as error:
        parse_node_shape(text)
    assert told in str(error.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """By ValueError alone."""
    try:
        assert 1 <= parse_node_shape(text).count <= 1000
    except ValueError as error:
        assert str(error)  # noqa: PT017 - either way is right


Shell = Callable[..., Answer]


def test_the_plan_goes_to_standard_output_and_nothing_else_does(world: World, shell: Shell) -> None:
    """Data alone; warnings to standard error."""
    world.plan = small_plan(warnings=("node n9 has no allocatable",))
    answer = shell("plan", "-f", "x.json", "-o", "json")
    assert (answer.code, answer.out) == (0, to_json(world.plan))
    assert answer.err == "warning: node n9 has no allocatable\n"


def test_every_form_tells_of_the_move(world: World, shell: Shell) -> None:
    """Table, wide table, JSON, YAML and a page."""
    for form in ("table", "wide", "json", "yaml", "html"):
        answer = shell("plan", "-o", form)
        assert (answer.code, answer.err) == (0, "")
        assert "web-1" in answer.out
    assert yaml.safe_load(shell("plan", "-o", "yaml").out) == json.loads(shell("plan", "-o", "json").out)
    assert shell("plan", "-o", "html").out.startswith("<!DOCTYPE html>")
    assert "\x1b" not in shell("plan").out


def test_options_reach_reader_and_planner(world: World, shell: Shell) -> None:
    """Files, connection, selection, limits, seed."""
    shell(
        "plan", "-f", "a.json", "-f", "-", "-n", "web", "-n", "db", "-n", "web", "-l", "app=x", "--max-evictions", "3",
        "--deadline", "1m30s", "--seed", "7", "--objective", "MakeRoom",
    )  # fmt: skip
    assert world.calls["read_cluster"]["options"].filenames == ("a.json", "-")
    call = world.calls["plan"]
    assert (call["policy"].limits.max_evictions, call["policy"].limits.deadline, call["options"].seed) == (3, 90.0, 7)
    selector = LabelSelector((Requirement("app", "In", ("x",)),))
    assert call["options"].selection == Selection(namespaces=("web", "db"), selector=selector)
    shell("plan", "--kubeconfig", "k", "--context", "c")
    options = world.calls["read_cluster"]["options"]
    assert (options.filenames, options.kubeconfig, options.context) == ((), "k", "c")


def test_options_win_over_the_policy_and_leave_the_rest_of_it(world: World, shell: Shell, tmp_path: Path) -> None:
    """--max-evictions replaces one limit; two policies merge."""
    (tmp_path / "a.yaml").write_text(HEAD + "limits: {maxEvictions: 5, deadline: 3s}\n")
    (tmp_path / "b.yaml").write_text(HEAD + "limits: {deadline: 4s}\n")
    files = ["--policy", str(tmp_path / "a.yaml"), "--policy", str(tmp_path / "b.yaml")]
    shell("plan", *files)
    limits = world.calls["plan"]["policy"].limits
    assert (limits.max_evictions, limits.deadline) == (5, 4.0)
    shell("plan", *files, "--max-evictions", "0")
    limits = world.calls["plan"]["policy"].limits
    assert (limits.max_evictions, limits.deadline) == (0, 4.0)


def test_exit_code_tells_whether_the_plan_is_empty_when_asked(world: World, shell: Shell) -> None:
    """3 for a plan with moves, 0 without; without the option always 0."""
    assert shell("plan", "--exit-code").code == 3
    assert shell("plan").code == 0
    world.plan = small_plan(moves=(), placements=())
    assert shell("plan", "--exit-code").code == 0


@pytest.mark.parametrize("error", [SnapshotError("a.json: pod default/x: spec: missing"), ClusterError("no answer")])
def test_input_that_cannot_be_used_fails_with_one_paragraph(world: World, shell: Shell, error: Exception) -> None:
    """Exit 1, nothing on standard output."""
    world.error = error
    assert shell("plan") == Answer(1, "", f"error: {error}\n")


def test_a_wrong_policy_is_wrong_use_and_nothing_is_read(world: World, shell: Shell, tmp_path: Path) -> None:
    """All problems, one a line; the cluster is not touched."""
    (tmp_path / "p.yaml").write_text(HEAD + "limits: {maxEvictions: -1, x: 1}\n")
    answer = shell("plan", "--policy", str(tmp_path / "p.yaml"))
    assert (answer.code, answer.out, len(answer.err.splitlines())) == (2, "", 2)
    assert "p.yaml:3:24: limits.maxEvictions: found -1; wanted 0 or more" in answer.err
    assert world.calls == {}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--seed", "abc"], "'--seed': found 'abc'; wanted a whole number from 0 to"),
        (["--seed", "-1"], "wanted a whole number from 0 to"),
        (["--seed", "1e18"], "found '1e18'"),
        (["--max-evictions", "-1"], "wanted a whole number from 0 to 1000000"),
        (["--max-evictions", "nan"], "found 'nan'"),
        (["--deadline", "0s"], "leaves no time"),
        (["--deadline", "5"], "write it like 90s"),
        (["--deadline", "-5s"], "write it like 90s"),
        (["--objective", "EmptyNode"], "did you mean EmptyNodes?"),
        (["--objective", "Defragment"], "Defragment needs shapes; write them into a policy, under args"),
        (["--objective", "x"], "found 'x'; there are MakeRoom, EmptyNodes"),
        (["--usage", ""], "an empty file name"),
        (["-o", "xml"], "'html'"),
        (["-l", "a=b=c"], "is no label selector"),
        (["--polcy", "x"], "--policy"),
        (["-f", "a", "--context", "b"], "give one of them"),
        (["-f", "-", "-f", "-"], "only once"),
        (["-f", ""], "empty file name"),
        (["extra"], "extra"),
    ],
)
def test_wrong_use_is_named_and_nothing_is_read(world: World, shell: Shell, arguments: list[str], text: str) -> None:
    """Exit 2, one paragraph with what was found and what was wanted."""
    answer = shell("plan", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert text in answer.err
    assert len(answer.err.splitlines()) == 1
    assert world.calls == {}


def test_a_misspelt_command_gets_a_suggestion(shell: Shell) -> None:
    """plna is near plan."""
    answer = shell("plna")
    assert answer.code == 2
    assert "Did you mean 'plan'?" in answer.err


def test_a_namespace_without_pods_is_a_warning(world: World, shell: Shell) -> None:
    """The plan is made all the same."""
    answer = shell("plan", "-n", "nowhere")
    assert answer.code == 0
    assert "warning: -n nowhere: the cluster has no pod in this namespace" in answer.err
