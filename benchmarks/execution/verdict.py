"""Benchmark: ``python -m benchmarks.execution.verdict --pods 15000,150000``: what one verdict of the gate takes.

A pod is looked at with what it depends on, the gate is asked, and whether there is room: all that is done between two
answers of the API server before a pod is evicted. Without a server; what is read shows new objects of the pod itself
and of one neighbour, as where a cluster lives. For ``apply``, and for a daemon in Execute, whose rates and health are
asked too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.command_line import write_result
from benchmarks.first_sync.store import cluster_of
from benchmarks.machine import describe_machine
from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.vicinity import NarrowReads, read_vicinity
from rescheduler.daemon.plugins import load_policy
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.execution.eviction.own_verdict import has_room, is_welcome
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.model.columns.selectors import selects
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, reference_to
from rescheduler.model.plan.vicinity import Vicinity
from rescheduler.scheduling.schedulers import DEFAULTS

PODS_A_NODE = 30
POLICY = """apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
mode: Execute
objectives: [{name: SchedulerScore}]
scope: {minimumAge: 0s}
limits: {maxEvictions: 1000}
disruption: {rampUp: unlimited}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execution.verdict", description=__doc__)
    parser.add_argument("--pods", default="15000,150000", help="pods of each cluster, 30 to a node")
    parser.add_argument("--moves", type=int, default=40, help="verdicts in each")
    parser.add_argument("-o", "--output", type=Path, help="where the result is written (default: standard output)")
    options = parser.parse_args(arguments)
    rows = [row for pods in map(int, options.pods.split(",")) for row in measured(pods, options.moves)]
    write_result({"machine": describe_machine(), "medianSecondsAVerdict": rows}, options.output, indent=1)
    return 0


def measured(pods: int, moves: int) -> Iterator[dict[str, Any]]:
    """A row for ``apply``, and one for a daemon."""
    world = _world(pods)
    for is_daemon in (False, True):
        seconds = [*_verdicts(world, moves, is_daemon=is_daemon)]
        yield {"pods": pods, "of": "daemon" if is_daemon else "apply", "seconds": round(statistics.median(seconds), 4)}


def _world(pods: int) -> Cluster:
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as file:
        for _, found in cluster_of(pods, pods // PODS_A_NODE, waiting=0, new_nodes=10):
            file.write(msgspec.json.encode(found) + b"\n")
        file.flush()
        return read_recording([file.name])


def _verdicts(world: Cluster, number: int, *, is_daemon: bool) -> Iterator[float]:
    """Seconds of processor time of each; one after the other, on the snapshot that the last one left."""
    fresh, gate = FreshCluster(_Living(world), SystemClock(), DEFAULTS.configured), _gate(is_daemon=is_daemon)
    fresh.read()
    sent = []
    for move in _moves(world, number):
        began = time.process_time()
        fresh.look_around(move)
        (verdict,) = gate.permit([move], fresh.now, sent, EMPTY_LEDGER)
        is_free = has_room(move, [], fresh.now) and is_welcome(move, fresh.now)
        yield time.process_time() - began
        if isinstance(verdict, Permit) and is_free:
            sent.append(move.pod)


def _gate(*, is_daemon: bool) -> PolicyGate:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(POLICY)
        file.flush()
        return PolicyGate(load_policy([file.name]), is_daemon=is_daemon)


def _moves(world: Cluster, number: int) -> Iterator[Move]:
    """Pods of as many workloads, each to one of the empty nodes."""
    empty = [node.name for node in world.nodes if node.name not in world.pods_by_node]
    seen: set[str] = set()
    for pod in world.pods[:: len(world.pods) // (4 * number)]:
        owner = world.owner_of(pod)
        if owner is None or owner.kind != "ReplicaSet" or owner.uid in seen or len(seen) == number:
            continue
        seen.add(owner.uid)
        target = empty[len(seen) % len(empty)]
        yield Move(reference_to(pod), pod.node_name or "", target, 1, "SchedulerScore", "as the benchmark wants it")


class _Living(NarrowReads):
    """Stands in for the target: what a move depends on as it stood, the pod itself and a neighbour made anew."""

    def __init__(self, world: Cluster) -> None:
        self._world = world

    def read(self) -> Cluster:
        """The whole."""
        return self._world

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """Around one move; the last of its namespace that is counted with the pod is new as well."""
        around = read_vicinity(self, move, cluster)
        own = [pod for pod in around.pods if pod.namespace == move.pod.namespace and pod.key != move.pod.key]
        new = {move.pod.key, *(pod.key for pod in own[-1:])}
        pods = (msgspec.structs.replace(pod) if pod.key in new else pod for pod in around.pods)
        return around._replace(pods=tuple(pods))

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """One pod, or None."""
        return self._world.pod_by_key.get(f"{namespace}/{name}")

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all)."""
        found = self._world.pods_by_namespace.get(namespace, ())
        return [pod for pod in found if selector is None or selects(selector, pod.labels)]

    def pods_on(self, node: str) -> Sequence[Pod]:
        """The pods that are bound to a node."""
        return self._world.pods_by_node.get(node, ())

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """The PodDisruptionBudgets of one namespace."""
        return self._world.budgets_by_namespace.get(namespace, ())

    def read_node(self, name: str) -> Node | None:
        """One node, or None."""
        return self._world.node_by_name.get(name)

    def read_workload(self, known: Workload) -> Workload | None:
        """An owner, or None."""
        return self._world.workload_by_uid.get(known.uid)


if __name__ == "__main__":
    raise SystemExit(main())
