"""What the daemon's page costs for a large cluster, as a multiple of one plain pass over its pods.

python -m benchmarks.page [--nodes 5000] [--pods 150000] [--runs 5]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from benchmarks.machine import describe_machine
from rescheduler.daemon.page.page_desk import PAGE_SECONDS, PageDesk
from rescheduler.daemon.steering.daemon_state import DaemonState
from tests.clocks import FakeClock
from tests.unit.daemon.page.looks import ALL, desk, large
from tests.unit.policy.policies import policy

POLICY = policy(
    """
disruption:
  budgets:
    - {name: of-namespace, per: Namespace, maxUnavailable: 10%}
    - {name: of-workload, per: Workload, rate: {maxEvictions: 2, window: 1h}}
    - {name: of-node, per: Node, maxMoving: 3}
"""
)
"""Budgets that look at every pod."""


def main() -> int:
    """Print a table in Markdown; 1 where the page is larger than a megabyte."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    first, later, one_pass, size = [], [], [], 0
    for _ in range(given.runs):
        found, clock = large(nodes=given.nodes, pods=given.pods), FakeClock()
        made = desk(found, clock, policy=POLICY)
        one_pass.append(cpu_seconds(lambda found=found: look_at_each_pod(found)))
        first.append(cpu_seconds(lambda made=made: made.page(ALL)))
        later.append(cpu_seconds(lambda made=made, clock=clock: again(made, clock)))
        size = len(made.page(ALL))
    yardstick = statistics.median(one_pass)
    print(f"# {describe_machine()}; {given.nodes} nodes, {given.pods} pods, 200 rounds; CPU, medians of {given.runs}")
    print("| | seconds | passes over the pods |\n| --- | --- | --- |")
    for name, seconds in (("one pass", one_pass), ("first look", first), ("later look", later)):
        median = statistics.median(seconds)
        print(f"| {name} | {median:.3f} | {median / yardstick:.1f} |")
    print(f"\n{size} bytes")
    return 0 if size <= 1_000_000 else 1


def look_at_each_pod(found: DaemonState) -> dict[str, int]:
    """The least that anything about all pods costs in Python: a look at two fields of each, and a count."""
    counts: dict[str, int] = {}
    for pod in () if found.cluster is None else found.cluster.pods:
        counts[pod.namespace] = counts.get(pod.namespace, 0) + bool(pod.node_name)
    return counts


def again(made: PageDesk, clock: FakeClock) -> str:
    """A page that is not the one of the same second."""
    clock.sleep(2 * PAGE_SECONDS)
    return made.page(ALL)


def cpu_seconds(act: Callable[[], object]) -> float:
    """User and system time of this process, all its threads."""
    before = time.process_time()
    act()
    return time.process_time() - before


if __name__ == "__main__":
    raise SystemExit(main())
