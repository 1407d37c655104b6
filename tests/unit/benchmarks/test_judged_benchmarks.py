"""Tests of the drain, openb, podpack and fragment_rate benchmarks, judged from their files alone."""

from __future__ import annotations

import json
import lzma

import pytest

from benchmarks import drain, fragment_rate, judge, openb, podpack

CLUSTER = {
    "resources": ["cpu", "memory"],
    "nodes": [["a", 10, 10], ["b", 10, 10], ["c", 6, 6], ["d", 4, 4]],
    "pods": [
        ["p1", "web", 0, "a", 5, 2],
        ["p2", "web", 0, "a", 3, 2],
        ["p3", "db", 0, "b", 4, 1],
        ["p4", "db", 0, "b", 4, 1],
        ["p5", None, 0, "c", 3, 3],
    ],
}
WAITING = {
    "resources": ["cpu", "memory"],
    "nodes": [["a", 4, 4], ["b", 4, 4]],
    "pods": [["low", "w", 0, "a", 3, 1], ["mid", "w", 1, "b", 2, 1], ["high", "w", 2, None, 4, 4]],
}


def vm_mapping() -> dict:
    """Two hosts; one VM lies so that it spoils a block of 16 cores, another lies on both NUMA nodes."""

    def host(name: str) -> dict:
        numa = [{"node": node, "total_cpu": 44, "memory_huge_total_mb": 1000} for node in (0, 1)]
        return {"node_id": name, "numa": numa}

    def vm(name: str, where: str, nodes: tuple[int, ...], cpu: int) -> dict:
        parts = [{"node": node, "cpu": cpu, "mem_mb": 10} for node in nodes]
        return {"instance_id": name, "host_id": where, "numa": parts, "allow_migration": True}

    vms = [vm("v1", "h1", (0,), 13), vm("v2", "h2", (1,), 4), vm("v3", "h2", (0, 1), 15), vm("gone", "h1", (1,), 40)]
    return {"cluster_list": [{"host_info": [host("h1"), host("h2")], "vm_instance": vms}]}


def run(benchmark, tmp_path, document, *options):
    """Write the instance, run the benchmark from the command line, and read what it wrote."""
    data, result = tmp_path / "data.json", tmp_path / "result.json"
    data.write_text(document if isinstance(document, str) else json.dumps(document))
    assert benchmark.main(["--data", str(data), "--deadline", "30s", "-o", str(result), *options]) == 0
    return data, json.loads(result.read_text())


def test_drain_reaches_each_count_and_says_what_is_impossible(tmp_path):
    """One node is empty before; the second costs an exchange with one pod parked meanwhile; four cannot be empty."""
    data, report = run(drain, tmp_path, CLUSTER, "--nodes", "1,2,4")
    assert judge.judge_drain(data, report) == {"moves": {1: 0, 2: 4, 4: None}, "value": 4}
    assert report["bound"] <= report["value"]
    assert set(report) == {"instance", "seconds", "peakMegabytes", "value", "bound", "result"}


def test_openb_empties_what_can_be_emptied(tmp_path):
    """Of three used nodes one can go; the node that was empty before does not count."""
    data, report = run(openb, tmp_path, CLUSTER)
    assert judge.judge_openb(data, report)["value"] == 1
    assert report["bound"] == 1


def test_podpack_prefers_the_higher_priority(tmp_path):
    """The waiting pod of highest priority gets a node; the others share what is left as far as it goes."""
    data, report = run(podpack, tmp_path, json.dumps(WAITING) + "\n" + json.dumps(WAITING))
    found = judge.judge_podpack(data, report)
    assert (found["instances"], found["better"], found["placed"]) == (2, 2, 4)
    placement = report["result"][0]["placement"]
    assert placement["high"] is not None
    assert placement["low"] is None


def test_fragment_rate_reads_variants_beside_their_base(tmp_path):
    """A variant leaves VMs of its base out; the moves make cores usable that were not, and the bound is not passed."""
    (tmp_path / "base.json.xz").write_bytes(lzma.compress(json.dumps(vm_mapping()).encode()))
    data, report = run(fragment_rate, tmp_path, {"base": "base.json", "removed": ["gone"]}, "--max-moves", "1")
    judged = judge.judge_fragment_rate(data, report)
    nothing = judge.judge_fragment_rate(data, {"value": start_rate(), "result": {"moves": []}})
    assert judged["value"] < nothing["value"]
    assert report["bound"] <= report["value"]


def start_rate() -> float:
    """(free - 16 * blocks) / free before any move: 31, 44, 29 and 25 cores are free."""
    return (129 - 16 * (1 + 2 + 1 + 1)) / 129


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("not json", "not JSON"),
        ({"base": "nowhere.json", "removed": []}, "nowhere.json"),
        ({"cluster_list": 3}, "form"),
    ],
)
def test_fragment_rate_names_what_is_wrong_with_a_file(tmp_path, capsys, document, words):
    """A file of another form is one line and exit 1."""
    data = tmp_path / "data.json"
    data.write_text(document if isinstance(document, str) else json.dumps(document))
    assert fragment_rate.main(["--data", str(data)]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


def test_drain_refuses_pods_without_a_node(tmp_path, capsys):
    """Only running pods can be moved off nodes; the message names one that does not run."""
    data = tmp_path / "data.json"
    data.write_text(json.dumps(WAITING))
    assert drain.main(["--data", str(data)]) == 1
    assert "'high'" in capsys.readouterr().err


@pytest.mark.parametrize("moves", [[["p5", "b"]], [["p5", "d"], ["p1", "d"]]])
def test_the_judge_refuses_moves_without_room(tmp_path, moves):
    """A result whose moves find no room is wrong, whatever it claims."""
    data = tmp_path / "data.json"
    data.write_text(json.dumps(CLUSTER))
    report = {"value": len(moves), "result": [{"k": 1, "drained": ["c"], "moves": moves}]}
    with pytest.raises(judge.WrongResultError, match="free"):
        judge.judge_drain(data, report)
