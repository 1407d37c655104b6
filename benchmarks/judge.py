"""Judges a benchmark's result from the two files alone: recomputes its value and checks every move.

``python -m benchmarks.judge NAME --data PATH --result RESULT.json`` for drain, openb, podpack and fragment_rate. It
shares no code with the planner, and reads the files by itself. Exit 1 if a claim is wrong.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

BLOCK = 16
Report = dict[str, Any]


class WrongResultError(ValueError):
    """A result that claims what is not so: names the move or the number."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge", description=__doc__)
    parser.add_argument("name", choices=sorted(JUDGES))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--result", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        print(json.dumps(JUDGES[options.name](options.data, read(options.result))))
    except WrongResultError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def read(path: Path) -> Any:
    """JSON, plain or xz, one document or one a line."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if data[:6] == b"\xfd7zXZ\x00" else data).decode()
    try:
        return json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def judge_drain(data: Path, report: Report) -> Report:
    """Each k: so many nodes are empty in the end, and each move found its room free."""
    cluster = read(data)
    moves = {}
    for entry in report["result"]:
        if entry["drained"] is None:
            moves[entry["k"]] = None
            continue
        empty = _empty_after(cluster, entry["moves"])
        _claim(set(entry["drained"]) <= empty, f"k={entry['k']}: {set(entry['drained']) - empty} are not empty")
        _claim(len(empty) >= entry["k"], f"k={entry['k']}: only {len(empty)} nodes are empty")
        moves[entry["k"]] = len(entry["moves"])
    value = sum(count for count in moves.values() if count is not None)
    _claim(value == report["value"], f"value: found {report['value']}, the moves are {value}")
    return {"moves": moves, "value": value}


def judge_openb(data: Path, report: Report) -> Report:
    """The drained nodes held pods before and are empty in the end."""
    cluster, result = read(data), report["result"]
    used = {pod[3] for pod in cluster["pods"]}
    drained = set(result["drained"])
    empty = _empty_after(cluster, result["moves"])
    _claim(drained <= empty & used, f"not emptied by the plan: {sorted(map(str, drained - (empty & used)))[:5]}")
    _claim(len(drained) == report["value"], f"value: found {report['value']}, the plan empties {len(drained)}")
    _claim(len(result["moves"]) == result["evictions"], f"evictions: {result['evictions']}")
    return {"value": len(drained), "evictions": result["evictions"]}


def judge_podpack(data: Path, report: Report) -> Report:
    """No node is too full; counts how often more pods of a higher priority have a place than before."""
    instances = read(data)
    instances = instances if isinstance(instances, list) else [instances]
    _claim(len(instances) == len(report["result"]), f"{len(report['result'])} results for {len(instances)} instances")
    better = equal = placed = 0
    for number, (cluster, result) in enumerate(zip(instances, report["result"], strict=True)):
        placement = result["placement"]
        missing = {str(pod[0]) for pod in cluster["pods"]} ^ set(placement)
        _claim(not missing, f"instance {number}: pods missing or unknown: {sorted(missing)[:5]}")
        free = {node[0]: list(node[1:]) for node in cluster["nodes"]}
        for pod in cluster["pods"]:
            node = placement[str(pod[0])]
            if node is not None:
                _take(free[node], pod[4:], f"instance {number}: pod {pod[0]} on node {node}")
        before = _by_priority(cluster, {str(pod[0]): pod[3] for pod in cluster["pods"]})
        after = _by_priority(cluster, placement)
        better += after > before
        equal += after == before
        placed += sum(after)
    return {"instances": len(instances), "better": better, "equal": equal, "placed": placed}


def judge_fragment_rate(data: Path, report: Report) -> Report:
    """Each move finds its cores and memory free; the rate is computed anew."""
    document = read(data)
    removed: set[Any] = set()
    if "base" in document:
        removed = set(document["removed"])
        base = data.parent / document["base"]
        document = read(base if base.exists() else base.with_name(base.name + ".xz"))
    free, vms = _numa_nodes(document, removed)
    for vm, host, numa in report["result"]["moves"]:
        old, sizes = vms[vm]
        _claim((numa == -1) == (len(old) == 2), f"VM {vm}: moved to NUMA node {numa}, lies on {len(old)}")
        new = [(host, 0), (host, 1)] if numa == -1 else [(host, numa)]
        for place, size in zip(new, sizes, strict=True):
            _take(free[place], size, f"VM {vm} on {place}")
        for place, size in zip(old, sizes, strict=True):
            free[place] = [a + b for a, b in zip(free[place], size, strict=True)]
        vms[vm] = (new, sizes)
    total = sum(room[0] for room in free.values())
    rate = (total - BLOCK * sum(room[0] // BLOCK for room in free.values())) / total
    _claim(abs(rate - report["value"]) < 1e-9, f"value: found {report['value']}, the rate is {rate}")
    return {"value": rate, "moves": len(report["result"]["moves"])}


def _numa_nodes(
    document: Any, removed: set[Any]
) -> tuple[dict[tuple[Any, int], list[float]], dict[Any, tuple[list[tuple[Any, int]], list[list[float]]]]]:
    """Free cores and memory of each NUMA node, and where each VM lies with what it takes there."""
    free: dict[tuple[Any, int], list[float]] = {}
    vms: dict[Any, tuple[list[tuple[Any, int]], list[list[float]]]] = {}
    for cluster in document["cluster_list"]:
        for host in cluster["host_info"]:
            for part in host["numa"]:
                free[host["node_id"], part["node"]] = [part["total_cpu"], part["memory_huge_total_mb"]]
    for cluster in document["cluster_list"]:
        for vm in cluster["vm_instance"]:
            if vm["instance_id"] not in removed:
                places = [(vm["host_id"], part["node"]) for part in vm["numa"]]
                sizes = [[part["cpu"], part["mem_mb"]] for part in vm["numa"]]
                vms[vm["instance_id"]] = (places, sizes)
                for place, size in zip(places, sizes, strict=True):
                    free[place] = [a - b for a, b in zip(free[place], size, strict=True)]
    return free, vms


def _empty_after(cluster: Any, moves: Sequence[Sequence[Any]]) -> set[Any]:
    free = {node[0]: list(node[1:]) for node in cluster["nodes"]}
    pods = {pod[0]: pod for pod in cluster["pods"]}
    at = {pod[0]: pod[3] for pod in cluster["pods"]}
    for name, node in at.items():
        free[node] = [a - b for a, b in zip(free[node], pods[name][4:], strict=True)]
    for name, node in moves:
        _take(free[node], pods[name][4:], f"pod {name} on node {node}")
        free[at[name]] = [a + b for a, b in zip(free[at[name]], pods[name][4:], strict=True)]
        at[name] = node
    return set(free) - set(at.values())


def _take(free: list[float], asked: Sequence[float], what: str) -> None:
    for number, amount in enumerate(asked):
        _claim(
            amount == 0 or free[number] >= amount, f"{what}: {amount} of resource {number} asked, {free[number]} free"
        )
        free[number] -= amount


def _by_priority(cluster: Any, placement: dict[str, Any]) -> list[int]:
    levels = sorted({pod[2] for pod in cluster["pods"]}, reverse=True)
    return [sum(pod[2] == level and placement[str(pod[0])] is not None for pod in cluster["pods"]) for level in levels]


def _claim(is_true: bool, message: str) -> None:
    if not is_true:
        raise WrongResultError(message)


JUDGES: dict[str, Callable[[Path, Report], Report]] = {
    "drain": judge_drain,
    "openb": judge_openb,
    "podpack": judge_podpack,
    "fragment_rate": judge_fragment_rate,
}

if __name__ == "__main__":
    raise SystemExit(main())
