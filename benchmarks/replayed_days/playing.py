"""Plays a history on a real control plane: one with nothing moved, which is recorded, and one with the daemon."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from benchmarks.replayed_days.history import ClusterHistory
from benchmarks.replayed_days.waits import Waits, WaitWatch, waits
from rescheduler.composition.archiving.recording import ArchiveSettings, Recorder
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.policy.fields.policy import Policy
from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.daemon_process import DaemonProcess
from tests.cluster.shapes import deployment, disruption_budget, node
from tests.cluster.tool import Tool
from tests.cluster.waiting import wait_until

SETTLE_SECONDS: Final = 120.0
ROUND_SECONDS: Final = 900.0


class PlayedStep(NamedTuple):
    """``settled`` and ``over``: seconds from its begin until all stood or waited, and until the round had ended too."""

    evictions: int
    in_use_before: int
    in_use: int
    pending_before: int
    pending: int
    settled: float
    over: float


class PlayedHistory(NamedTuple):
    """All steps; ``longest``: of them, in seconds."""

    steps: list[PlayedStep]
    waits: Waits
    longest: float


class Pace:
    """Lets all who play begin a step at the same time: when it is due, and all of them are done with the one before.

    So a machine that is slow stretches time for the recorded and the played history alike.
    """

    def __init__(self, players: int, seconds: float) -> None:
        self._seconds = seconds
        self._due = time.monotonic()
        self._barrier = threading.Barrier(players, self._wait_until_due)

    def wait(self) -> None:
        """Raises BrokenBarrierError where somebody has given up."""
        self._barrier.wait()

    def give_up(self) -> None:
        """Nobody waits any more."""
        self._barrier.abort()

    def _wait_until_due(self) -> None:
        time.sleep(max(0.0, self._due - time.monotonic()))
        self._due = time.monotonic() + self._seconds


Round = Callable[[], int]
"""What is done in a step once all stand or wait; says how many evictions it took."""


def recording(cluster: Cluster, archive: str) -> Round:
    """A snapshot as ``rescheduler record`` takes it, in this process, and nothing moved."""
    where = ClusterOptions(kubeconfig=str(cluster.control_plane.kubeconfig))
    recorder, policy = Recorder(ArchiveSettings(archive)), Policy()

    def round_of_a_step() -> int:
        recorder.add_live(where, policy, lambda _: None)
        return 0

    return round_of_a_step


def asking(tool: Tool, process: DaemonProcess) -> Round:
    """One round of a daemon with the trigger OnDemand."""

    def round_of_a_step() -> int:
        before = len(process.events("round ended"))
        process.process.send_signal(signal.SIGUSR1)
        process.wait_for("round ended", count=before + 1, timeout_seconds=ROUND_SECONDS)
        sent = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
        return sum(write.code < 300 for write in sent)

    return round_of_a_step


def prepare(cluster: Cluster, history: ClusterHistory) -> None:
    """Nodes, and the budgets of all workloads that have one."""
    cluster.create(*(node(name, cpu=str(cpus)) for name, cpus in history.nodes.items()))
    cluster.wait_nodes_ready(timeout_seconds=SETTLE_SECONDS)
    guarded = (name for name, shape in history.workloads.items() if shape.is_guarded)
    cluster.create(*(disruption_budget(name, maxUnavailable=1) for name in guarded))


def play(
    cluster: Cluster, history: ClusterHistory, pace: Pace, act: Round, tell: Callable[[int, PlayedStep], None]
) -> PlayedHistory:
    """Every step begins when the pace says so."""
    watch = WaitWatch(cluster.api)
    watch.start()
    begins, steps = [], []
    there: Mapping[str, int] = {}
    for number, wanted in enumerate(history.steps):
        pace.wait()
        begins.append(time.monotonic())
        _change(cluster, history, there, wanted)
        there = wanted
        steps.append(_step(cluster, wanted, begins[-1], act))
        tell(number, steps[-1])
    looks = watch.stop()
    longest = max((end - begin for begin, end in pairwise(begins)), default=0.0)
    return PlayedHistory(steps, waits(looks, begins), longest)


def _step(cluster: Cluster, wanted: Mapping[str, int], begin: float, act: Round) -> PlayedStep:
    before = _settled(cluster, wanted)
    settled = time.monotonic() - begin
    evictions = act()
    after = _settled(cluster, wanted)
    counted = (_in_use(before), _in_use(after), _pending(before), _pending(after))
    return PlayedStep(evictions, *counted, settled, time.monotonic() - begin)


def _change(cluster: Cluster, history: ClusterHistory, there: Mapping[str, int], wanted: Mapping[str, int]) -> None:
    """Who leaves goes first, and who comes finds the room."""
    for name in there:
        if name not in wanted:
            cluster.api.delete("deployments", name, "default")
    fewer = [name for name in wanted if wanted[name] < there.get(name, 0)]
    more = [name for name in wanted if wanted[name] > there.get(name, 0)]
    for name in fewer:
        _scale(cluster, name, wanted[name])
    _wait_until_settled(cluster, {name: min(count, wanted.get(name, 0)) for name, count in there.items()})
    for name in more:
        if name in there:
            _scale(cluster, name, wanted[name])
        else:
            cluster.create(deployment(name, wanted[name], cpu=f"{history.workloads[name].millicores}m"))


def _scale(cluster: Cluster, name: str, replicas: int) -> None:
    cluster.api.patch("deployments", name, {"spec": {"replicas": replicas}}, "default")


def _settled(cluster: Cluster, wanted: Mapping[str, int]) -> list[Manifest]:
    return _wait_until_settled(cluster, wanted)


def _wait_until_settled(cluster: Cluster, wanted: Mapping[str, int]) -> list[Manifest]:
    """The pods once they are as many as wanted, each of them ready, or refused a node."""
    pods: list[Manifest] = []

    def is_settled() -> bool:
        pods[:] = cluster.api.list("pods", "default")
        return len(pods) == sum(wanted.values()) and all(map(_stands, pods))

    wait_until(is_settled, lambda: f"{sum(wanted.values())} pods to stand or wait", timeout_seconds=SETTLE_SECONDS)
    return list(pods)


def _stands(pod: Manifest) -> bool:
    is_decided = condition(pod, "Ready") == "True" or condition(pod, "PodScheduled") == "False"
    return is_decided and "deletionTimestamp" not in pod["metadata"]


def _in_use(pods: list[Manifest]) -> int:
    return len({pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")})


def _pending(pods: list[Manifest]) -> int:
    return sum(not pod["spec"].get("nodeName") for pod in pods)
