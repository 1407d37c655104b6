"""What is foretold for a recorded case beside what the real descheduler did."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import yaml

from benchmarks.descheduler_policy.recording import RecordedCase
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.descheduler.cycle import run_cycle
from rescheduler.descheduler.foretelling import OwnRules, foretold_plan, limits_of, profiles_of, providers_of
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.scheduling.schedulers import DEFAULTS

SAME: Final = "same pods"
LIKE: Final = "equal pods"
ORDER: Final = "another order"
NUMBERS: Final = "numbers"
OTHER: Final = "different"
SHUFFLES: Final = 300
"""Orders of nodes and pods that are tried where upstream walks maps, whose order is another each time."""


class Verdict(NamedTuple):
    """``theirs``: victims of each run, ``ours``: those foretold. ``is_stable``: the runs name the same pods."""

    case: RecordedCase
    kind: str
    is_stable: bool
    theirs: list[frozenset[str]]
    ours: frozenset[str]


def read_case(case: RecordedCase) -> tuple[Cluster, DeschedulerPolicy]:
    """Its cluster and policy, through the same readers as ``plan -f FILE --policy FILE``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps(case.cluster))
        cluster = read_recording([str(path)], with_details=True)
    return cluster, read_descheduler_policy(yaml.safe_dump(case.policy), "policy.yaml")


def judge(case: RecordedCase) -> Verdict:
    """Names; else numbers by owner and node, as pods of one ReplicaSet on one node are alike; else another order.

    Where upstream walks a map, each run is one of many orders: the walk is tried in others too.
    """
    cluster, written = read_case(case)
    theirs = [frozenset(run["evicted"]) for run in case.runs]
    ours = _walk(cluster, written)
    told = [_kinds(cluster, names) for names in theirs]
    if ours in theirs:
        kind = SAME
    elif _kinds(cluster, ours) in told:
        kind = LIKE
    elif any(_kinds(cluster, names) in told for names in _in_other_orders(cluster, written)):
        kind = ORDER
    elif _numbers(cluster, ours) in [_numbers(cluster, names) for names in theirs]:
        kind = NUMBERS
    else:
        kind = OTHER
    return Verdict(case, kind, len(set(theirs)) == 1, theirs, ours)


def _walk(cluster: Cluster, written: DeschedulerPolicy) -> frozenset[str]:
    return victims_of(foretold_plan(cluster, written, DEFAULTS, OwnRules()))


def _in_other_orders(cluster: Cluster, written: DeschedulerPolicy) -> Iterator[frozenset[str]]:
    for seed in range(SHUFFLES):
        random = Random(seed)
        nodes, pods = list(cluster.nodes), list(cluster.pods)
        random.shuffle(nodes)
        random.shuffle(pods)
        shuffled = replace(cluster, nodes=tuple(nodes), pods=tuple(pods))
        limits = limits_of(written)
        cycle = run_cycle(
            shuffled, profiles_of(written, shuffled), written.node_selector, limits, providers_of(written)
        )
        yield frozenset(chosen.pod.key for chosen in cycle.chosen if chosen.refusal is None)


def victims_of(plan: ForetoldPlan) -> frozenset[str]:
    """Moves, and refusals of our own; what the API server refuses leaves nobody gone."""
    refused = {item.pod.key for item in plan.refusals if item.server_would_refuse is not True}
    return frozenset({move.pod.key for move in plan.moves} | refused)


def _kinds(cluster: Cluster, names: Iterable[str]) -> Counter[tuple[str | None, str | None]]:
    """By owner and node."""
    pods = {pod.key: pod for pod in cluster.pods}
    return Counter((owner.name if (owner := pods[name].controller) else None, pods[name].node_name) for name in names)


def _numbers(cluster: Cluster, names: Iterable[str]) -> Counter[str | None]:
    """By node."""
    pods = {pod.key: pod for pod in cluster.pods}
    return Counter(pods[name].node_name for name in names)
