"""Benchmark: a plan that begins where the last one ended, after some pods and nodes have changed, beside a cold one.

``python -m benchmarks.warm_start [--nodes 5000] [--evictions N] [--deadline 60s] [--share 0.15] [--cpu-clock]`` plans
EmptyNodes for a synthetic cluster, lets 50 pods go and closes 2 nodes, plans anew as if nothing were known, and then
with the first plan as its start in a share of the time; exit 1 where that empties fewer nodes.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from benchmarks.instances import Family, make_family
from benchmarks.machine import MonotonicClock, describe_machine
from benchmarks.promises import NO_LIMIT, ProcessClock, Run
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.last_plan import LastPlan
from rescheduler.extension_points import Clock
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.values import parse_positive_duration

PODS, NODES = 50, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    options = _parser().parse_args(arguments)
    clock = ProcessClock() if options.cpu_clock else MonotonicClock()
    family = Family(str(options.nodes), 0, options.utilisation, options.seed)
    cold = Run("EmptyNodes", family, options.evictions, NO_LIMIT, options.deadline)
    warm = replace(cold, deadline_seconds=options.deadline * options.share)
    print(f"# {describe_machine()}; {'processor' if options.cpu_clock else 'wall'} time; {family.name}")
    print("| plan | deadline | seconds | moves | nodes emptied | bound |\n|---|---|---|---|---|---|")
    before, _ = make_family(family)
    last = LastPlan()
    last.keep(_planned("before the change", cold, before, None, clock))
    after = changed(before, random.Random(options.seed))
    anew = _planned("cold", cold, after, None, clock)
    short = _planned("cold, in the share", warm, after, None, clock)
    again = _planned("warm, in the share", warm, after, last.standing(after), clock)
    print(f"# cold in the share {_value(short) / _value(anew):.1%}, warm {_value(again) / _value(anew):.1%} of cold")
    return int(_value(again) < _value(anew))


def changed(cluster: Cluster, draw: random.Random) -> Cluster:
    """The cluster when some pods have gone and some nodes take no more."""
    gone = {pod.uid for pod in draw.sample([pod for pod in cluster.pods if pod.node_name], PODS)}
    closed = set(draw.sample([node.name for node in cluster.nodes], NODES))
    nodes = tuple(structs.replace(node, is_unschedulable=node.name in closed) for node in cluster.nodes)
    return replace(cluster, nodes=nodes, pods=tuple(pod for pod in cluster.pods if pod.uid not in gone))


def _planned(name: str, run: Run, cluster: Cluster, start: Plan | None, clock: Clock) -> Plan:
    began = clock.monotonic()
    plan = make_plan(cluster, run.policy, CycleOptions(clock, start=start))
    took = clock.monotonic() - began
    bound = plan.objectives[0].bound
    cells = (
        name,
        f"{run.deadline_seconds:g}",
        f"{took:.1f}",
        f"{len(plan.moves):,}",
        f"{_value(plan):g}",
        f"{bound:g}",
    )
    print(f"| {' | '.join(cells)} |", flush=True)
    return plan


def _value(plan: Plan) -> float:
    return plan.objectives[0].value or 0.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--utilisation", type=float, default=0.7)
    parser.add_argument("--evictions", type=int, default=NO_LIMIT)
    parser.add_argument("--deadline", type=parse_positive_duration, default=60.0)
    parser.add_argument("--share", type=float, default=0.15, help="of the deadline, for the warm plan")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cpu-clock", action="store_true", help="deadlines in processor time, beside other work")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
