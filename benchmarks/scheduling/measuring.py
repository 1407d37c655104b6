"""What is measured: one pod on all nodes, many pods in sequence, pods with ties, and making the model."""

from __future__ import annotations

import random
import time
from typing import Any, NamedTuple

from benchmarks.scheduling.arithmetic import ArrayBatchArithmetic, BatchArithmetic, LoopArithmetic, is_numba_installed
from benchmarks.scheduling.plain import PlainScheduler
from benchmarks.scheduling.sequence import replace_in_sequence
from benchmarks.scheduling.timing import Times, timed
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.scheduling.scheduler_model import SchedulerModel

_SAMPLE = 300
_PLAIN_SAMPLE = 15


class Row(NamedTuple):
    """One line of the table."""

    what: str
    how: str
    times: Times
    calls: int
    ratio: float | None


class Measured(NamedTuple):
    """``destinations``: of the pods placed in sequence; ``seconds``: from the cluster to them, with the fastest way."""

    rows: list[Row]
    pods: list[int]
    destinations: list[int]
    seconds: float
    warm_up_seconds: float
    facts: dict[str, Any]


class Ways:
    """The model in each of its forms, over one cluster."""

    def __init__(self, columns: Columns, *, compiles: bool) -> None:
        """Compile what can be, if wanted, and say how long it took."""
        self.columns = columns
        self.arithmetics: dict[str, BatchArithmetic] = {"numpy": ArrayBatchArithmetic()}
        started = time.perf_counter()
        if compiles and is_numba_installed():
            self.arithmetics["compiled"] = LoopArithmetic()
            _warm_up(self.arithmetics["compiled"], columns)
        self.warm_up_seconds = time.perf_counter() - started
        self.models = {"plugins one by one": SchedulerModel(columns, arithmetic=None)}
        self.models.update((name, SchedulerModel(columns, arithmetic=how)) for name, how in self.arithmetics.items())


def measure(cluster: Cluster, count: int, seed: int, *, has_plain: bool, compiles: bool) -> Measured:
    """All measurements; ``count`` pods are placed in sequence. Raises AssertionError where two ways disagree."""
    making = timed([lambda: columns_of(cluster), lambda: columns_of(cluster), lambda: columns_of(cluster)])
    columns = columns_of(cluster)
    ways = Ways(columns, compiles=compiles)
    untied, tied = _sorted_out(ways)
    draw = random.Random(seed)
    pods = draw.sample(untied or tied, min(count, len(untied or tied)))
    plain = PlainScheduler(cluster) if has_plain else None
    rows: list[Row] = []
    found: list[int] = []
    if pods:
        rows = one_pod(ways, pods[:_SAMPLE], plain)
        found, sequence_rows = in_sequence(ways, pods, PlainScheduler(cluster) if has_plain else None)
        rows += sequence_rows
    if tied:
        rows.append(with_ties(ways, draw.sample(tied, min(_SAMPLE, len(tied)))))
    rows.append(Row("columns of the cluster", "numpy", making, 3, None))
    facts = {"nodes": columns.node_count, "pods": columns.pod_count, "shapes": len(columns.shapes),
             "podsWithoutTies": len(untied), "podsWithTies": len(tied)}  # fmt: skip
    seconds = _whole(cluster, ways, pods)
    return Measured(rows, pods, found, seconds, ways.warm_up_seconds, facts)


def one_pod(ways: Ways, pods: list[int], plain: PlainScheduler | None) -> list[Row]:
    """One pod filtered and scored on all nodes, each pod for the second time (its kind is known then)."""
    placement = Placement(ways.columns)
    times: dict[str, Times] = {}
    answers: dict[str, list[list[int]]] = {}
    for name, model in ways.models.items():
        answers[name] = [model.best_nodes(pod, placement).tolist() for pod in pods]
        times[name] = timed([lambda pod=pod, model=model: model.best_nodes(pod, placement) for pod in pods])
    if plain is not None:
        answers["plain Python"], times["plain Python"] = _plainly(plain, ways.columns, pods[:_PLAIN_SAMPLE])
    for name, answer in answers.items():
        assert answer == answers["numpy"][: len(answer)], f"one pod: {name} and numpy disagree"
    return _rows("one pod on all nodes", times, {name: len(answer) for name, answer in answers.items()})


def _plainly(plain: PlainScheduler, columns: Columns, pods: list[int]) -> tuple[list[list[int]], Times]:
    """The yardstick's answers for pods that stand somewhere: they leave, are asked about, and come back."""
    answers: list[list[int]] = []
    seconds = []
    for pod in pods:
        subject, home = columns.cluster.pods[pod], int(columns.initial_node_of[pod])
        plain.hold(subject, home, -1)
        seconds.append(timed([lambda subject=subject: answers.append(plain.best_nodes(subject))]).median)
        plain.hold(subject, home, 1)
    return answers, Times(sorted(seconds)[len(seconds) // 2], min(seconds))


def in_sequence(ways: Ways, pods: list[int], plain: PlainScheduler | None) -> tuple[list[int], list[Row]]:
    """Each pod leaves its node and goes to its best one, before the next is looked at; slow ways on the first few."""
    times: dict[str, Times] = {}
    found: dict[str, list[int]] = {}
    counts: dict[str, int] = {}
    for name, model in ways.models.items():
        counts[name] = _SAMPLE if name == "plugins one by one" else len(pods)
        some = pods[: counts[name]]
        replace_in_sequence(model, Placement(ways.columns), some)
        answers: list[IntArray] = []
        runs = [Placement(ways.columns) for _ in range(5)]
        calls = [
            lambda run=run, model=model, some=some, answers=answers: answers.append(
                replace_in_sequence(model, run, some)
            )
            for run in runs
        ]
        times[name] = _for_all(timed(calls), len(pods) / len(some))
        found[name] = answers[0].tolist()
    if plain is not None:
        counts["plain Python"] = min(_PLAIN_SAMPLE, len(pods))
        taken = timed(
            [lambda: found.update({"plain Python": _replace_plainly(plain, ways.columns, pods[:_PLAIN_SAMPLE])})]
        )
        times["plain Python"] = _for_all(taken, len(pods) / counts["plain Python"])
    for name, nodes_found in found.items():
        assert nodes_found == found["numpy"][: len(nodes_found)], f"in sequence: {name} and numpy disagree"
    return found["numpy"], _rows(f"{len(pods):,} pods in sequence", times, counts)


def _replace_plainly(plain: PlainScheduler, columns: Columns, pods: list[int]) -> list[int]:
    found = []
    for pod in pods:
        subject = columns.cluster.pods[pod]
        plain.hold(subject, int(columns.initial_node_of[pod]), -1)
        found.append(min(plain.best_nodes(subject)))
        plain.hold(subject, found[-1], 1)
    return found


def with_ties(ways: Ways, pods: list[int]) -> Row:
    """One pod with affinity, anti-affinity or spread: the plugins do these, whatever the arithmetic."""
    model, placement = ways.models["numpy"], Placement(ways.columns)
    for pod in pods:
        model.best_nodes(pod, placement)
    times = timed([lambda pod=pod: model.best_nodes(pod, placement) for pod in pods])
    return Row("one pod with affinity or spread", "plugins one by one", times, len(pods), None)


def _whole(cluster: Cluster, ways: Ways, pods: list[int]) -> float:
    """From the decoded cluster to the destinations, model building included, by the fastest way at hand."""
    started = time.perf_counter()
    columns = columns_of(cluster)
    model = SchedulerModel(columns, arithmetic=list(ways.arithmetics.values())[-1])
    replace_in_sequence(model, Placement(columns), pods)
    return time.perf_counter() - started


def _sorted_out(ways: Ways) -> tuple[list[int], list[int]]:
    """Pods that no other pod's place matters to, and the rest of those that are placed, or could be, and foretold."""
    model = ways.models["numpy"]
    assert model.fast_path is not None
    untied: list[int] = []
    tied: list[int] = []
    for pod in range(ways.columns.pod_count):
        counts = ways.columns.initial_node_of[pod] != NOWHERE or ways.columns.cluster.pods[pod].is_pending
        if counts and not model.not_modelled(pod):
            (untied if model.fast_path.kinds.of(pod) is not None else tied).append(pod)
    return untied, tied


def _warm_up(arithmetic: BatchArithmetic, columns: Columns) -> None:
    model, placement = SchedulerModel(columns, arithmetic=arithmetic), Placement(columns)
    assert model.fast_path is not None
    some = [pod for pod in range(min(2000, columns.pod_count)) if model.fast_path.kinds.of(pod) is not None]
    for pod in some[:1]:
        model.best_nodes(pod, placement)
    replace_in_sequence(model, placement, some[:100])


def _for_all(times: Times, factor: float) -> Times:
    return Times(times.median * factor, times.least * factor)


def _rows(what: str, times: dict[str, Times], counts: dict[str, int]) -> list[Row]:
    yardstick = times.get("plain Python", times["plugins one by one"])
    order = sorted(times, key=lambda name: -times[name].median)
    return [Row(what, name, times[name], counts[name], yardstick.median / times[name].median) for name in order]
