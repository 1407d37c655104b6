"""HotNode: the measured load of a node has been high for a while."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Final

import numpy as np
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rescheduler.daemon.triggers.causes import Causes, TriggerBackOff
from rescheduler.daemon.triggers.node_arrivals import identity
from rescheduler.daemon.triggers.setting import Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.model.usage.load_statistic import LoadStatistic
from rescheduler.model.usage.usage import FloatArray, Usage
from rescheduler.policy.fields.objectives import Statistic
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, Fraction, Share, format_duration

LOOK_SECONDS: Final = 30.0
"""Use changes without any change of the cluster, so it is looked at as often as this."""


MEASURED: Final = ("cpu", "memory", "disk", "cpuPressure")
"""What of a node is measured as a share of what it has, or of the time."""


def _measured(above: dict[str, float]) -> dict[str, float]:
    for name in above:
        if name not in MEASURED:
            near = get_close_matches(name, MEASURED, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found = {"found": repr(printable(name, 60)), "known": ", ".join(MEASURED), "hint": hint}
            raise PydanticCustomError("above", "{found} is not measured; there are {known}{hint}", found)
    return above


class HotNodeArgs(PolicyModel):
    """When the measured load of a node has been high for a while."""

    above: Annotated[dict[str, Fraction], Field(min_length=1, max_length=16), AfterValidator(_measured)] = Field(
        default_factory=lambda: {"cpu": 0.85, "memory": 0.9},
        json_schema_extra={"default": {"cpu": 0.85, "memory": 0.9}},
    )
    """Above which share it is hot, one being enough: of its capacity of cpu and memory, of the time for disk (busiest
    device at work) and cpuPressure (some task waiting for a cpu: pressure stall information, from Prometheus alone)."""
    lasting: DurationSeconds = Field(default=300.0, alias="for")
    """For how long."""
    margin: Share = 0.05
    """It is hot until its use is this much lower again."""
    statistic: Statistic = "mean"
    """How use over the shortest window is judged: mean, mean+K*std, p50, p90, p95 or p99."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a node that a round did not cool does not ask again."""


class HotNode(Trigger):
    """Asks for nodes that stay hot; only use that may steer a move counts, and a gap in it begins the time anew."""

    name = "HotNode"
    arguments = HotNodeArgs

    def __init__(self, args: HotNodeArgs, setting: Setting) -> None:  # noqa: ARG002 - one signature for all
        self._args = args
        self._statistic = LoadStatistic.of(args.statistic)
        self._causes: Causes[str] = Causes(args.back_off, debounce=0.0)
        self._hot_since: dict[str, float] = {}
        self._seen_at: float | None = None

    @classmethod
    def sentence(cls, args: HotNodeArgs) -> str:
        """Above which shares, and for how long."""
        what = {
            "cpuPressure": "waited for a cpu in more than {}% of the time",
            "disk": "used its disk in more than {}% of it",
        }
        used = "used more than {}% of its "
        said = [what.get(name, used + name).format(f"{100 * share:g}") for name, share in args.above.items()]
        return f"when a node has {' or '.join(said)} for {format_duration(args.lasting)}"

    @classmethod
    def warnings(cls, args: HotNodeArgs, policy: Policy) -> Iterator[str]:  # noqa: ARG003
        """A policy that measures nothing."""
        if not policy.usage.providers:
            yield "HotNode never asks for a round, since usage.providers names no source of load"

    def look(self, sight: Sight) -> Occasion | None:
        """Whether nodes have been hot for long enough."""
        cluster, now = sight.cluster, sight.cluster.taken_at
        self._seen_at = now
        usage = _shortest(sight)
        loads = {} if usage is None else self._loads(usage)
        hot, warm = _empty(cluster), _empty(cluster)
        if usage is not None and usage.node_count == len(cluster.nodes):
            hot, warm = self._judged(loads, _trusted(usage, now))
        before = self._hot_since
        self._hot_since = {}
        for number in np.flatnonzero(hot | warm).tolist():
            key = identity(cluster.nodes[number])
            if hot[number] or key in before:
                self._hot_since[key] = min(before.get(key, now), now)
        present = {key: since + self._args.lasting for key, since in self._hot_since.items()}
        asked = frozenset(self._causes.see(present, now))
        numbers = [number for number, node in enumerate(cluster.nodes) if asked and identity(node) in asked]
        return self._occasion(cluster, numbers, loads) if numbers else None

    def wake_at(self, now: float) -> float | None:
        """When a node will have been hot for long enough, or when it is time to look again."""
        again = now if self._seen_at is None or now < self._seen_at else self._seen_at + LOOK_SECONDS
        ripe = self._causes.wake_at(now)
        return again if ripe is None else min(again, ripe)

    def answered(self, report: RoundReport) -> None:
        """Nodes that are hot still are left alone for a while."""
        self._causes.answered(report)

    def _loads(self, usage: Usage) -> dict[str, FloatArray]:
        return {resource: self._statistic.percent(usage, resource) / 100.0 for resource in self._args.above}

    def _judged(self, loads: dict[str, FloatArray], trusted: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Nodes that are above a threshold, and those that are not yet well below all of them, bool[N] each."""
        hot = np.zeros(len(trusted), dtype=np.bool_)
        warm = hot.copy()
        for resource, threshold in self._args.above.items():
            hot |= loads[resource] > threshold  # false where unknown
            warm |= loads[resource] > threshold - self._args.margin
        return hot & trusted, warm & trusted

    def _occasion(self, cluster: Cluster, numbers: list[int], loads: dict[str, FloatArray]) -> Occasion:
        texts = [f"{cluster.nodes[number].name} ({self._load_of(number, loads)})" for number in numbers]
        what = "node has" if len(numbers) == 1 else "nodes have"
        reason = f"{len(numbers)} {what} been hot for {format_duration(self._args.lasting)}: {listed(texts)}"
        return Occasion(
            self.name, reason, cluster.taken_at, nodes=tuple(cluster.nodes[number].name for number in numbers)
        )

    def _load_of(self, number: int, loads: dict[str, FloatArray]) -> str:
        """Use of what made it hot, in percent."""
        above = self._args.above
        found = [
            f"{resource} {100 * float(load[number]):.0f}%"
            for resource, load in loads.items()
            if load[number] > above[resource] - self._args.margin
        ]
        return ", ".join(found)


def _shortest(sight: Sight) -> Usage | None:
    if sight.usage is None or not sight.usage.by_seconds:
        return None
    return sight.usage.by_seconds[min(sight.usage.by_seconds)]


def _trusted(usage: Usage, now: float) -> BoolArray:
    """Nodes whose use may steer a move, bool[N]."""
    fresh = usage.is_fresh(now)
    if usage.assessment is None:
        return fresh
    if usage.assessment.freeze or usage.assessment.falls_back:
        return np.zeros_like(fresh)
    return fresh & np.array([trust.is_usable for trust in usage.assessment.nodes], dtype=np.bool_)


def _empty(cluster: Cluster) -> BoolArray:
    return np.zeros(len(cluster.nodes), dtype=np.bool_)
