"""Benchmark: ``python -m benchmarks.verdict`` asks the gate about one pod after the other, as cluster grows.

Processor seconds for one look around (a patched snapshot) and one verdict, beside deciding about all pods of the same
snapshot, which is what a verdict cost before. Pods stand in 200 namespaces; the policy is the default, for a person
(``apply``) and for the daemon (``run``, whose budgets and health count all pods).
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from benchmarks.instances import Family, make_family
from benchmarks.machine import describe_machine
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, reference_to
from rescheduler.model.plan.vicinity import Vicinity, patched
from rescheduler.policy.fields.policy import Policy

NAMESPACES = 200
VERDICTS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict", description=__doc__)
    parser.add_argument("--nodes", default="500,5000", help="sizes, by commas (default: 500,5000)")
    options = parser.parse_args(arguments)
    print(describe_machine())
    print("nodes    pods  about all pods s  look s  verdict of apply s  of run s")
    for size in options.nodes.split(","):
        seen = spread_over_namespaces(make_family(Family(size, 0, 0.7, 1))[0])
        before = time.process_time()
        decide_eligibility(replace(seen), Policy())
        whole = time.process_time() - before
        looks, by_person = verdicts(seen, is_daemon=False)
        _, by_daemon = verdicts(seen, is_daemon=True)
        print(f"{size:>5} {len(seen.pods):7} {whole:17.3f} {looks:7.3f} {by_person:19.3f} {by_daemon:9.3f}", flush=True)
    return 0


def spread_over_namespaces(cluster: Cluster) -> Cluster:
    """The same cluster with each workload in one of many namespaces."""
    pods = (structs.replace(pod, namespace=f"ns-{_number(pod):03}") for pod in cluster.pods)
    return replace(cluster, pods=tuple(sorted(pods, key=lambda pod: (pod.namespace, pod.name))))


def _number(pod: Pod) -> int:
    return zlib.crc32(pod.name.rpartition("-")[0].encode()) % NAMESPACES


def verdicts(seen: Cluster, *, is_daemon: bool) -> tuple[float, float]:
    """Medians of the seconds of a look around and of a verdict, the first left out, which fills what is remembered."""
    gate = PolicyGate(Policy(), is_confirmed=True, is_daemon=is_daemon)
    draw, found = random.Random(0), []
    for pod in draw.sample([pod for pod in seen.pods if pod.node_name], VERDICTS + 1):
        move = Move(reference_to(pod), pod.node_name or "", seen.nodes[0].name, 1, "EmptyNodes", "measured")
        ends = (move.from_node, move.to_node)
        near = tuple(other for other in seen.pods if other.node_name in ends or other.namespace == pod.namespace)
        around = Vicinity(near, (), tuple(node for node in seen.nodes if node.name in ends), ())
        before = time.process_time()
        seen = patched(seen, move, around, seen.taken_at + 1.0)
        between = time.process_time()
        gate.permit([move], seen, ())
        found.append((between - before, time.process_time() - between))
    looks, asked = zip(*found[1:], strict=True)
    return statistics.median(looks), statistics.median(asked)


if __name__ == "__main__":
    sys.exit(main())
