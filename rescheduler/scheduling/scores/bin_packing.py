"""Nodes that the pod would fill more score higher, by the resources that it asks for (Volcano's binpack plugin)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.plugin import PluginSettings, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices
from rescheduler.scheduling.scoring.normalization import MAX_SCORE
from rescheduler.scheduling.scoring.resource_use import ResourceUse, uses
from rescheduler.scheduling.scoring.wording import mean_of

_RESOURCES = "binpack.resources"


@dataclass(frozen=True)
class BinPacking(SchedulerScore):
    """Weighted mean of the used shares with the pod, in percent.

    A resource that a node lacks, or that would be overfull, counts as 0 in its mean.
    """

    resources: tuple[tuple[str, int], ...] = ((CPU, 1), (MEMORY, 1))
    name = "binpack"
    stands_at = ()

    @classmethod
    def read_volcano(cls, fields: Fields, interval_seconds: float) -> PluginSettings:  # noqa: ARG003 - no load counts
        """Weights of the plugin itself and of each resource."""
        weight = fields.integer("binpack.weight", 1)
        resources = [
            ("cpu", _resource_weight(fields, "binpack.cpu")),
            ("memory", _resource_weight(fields, "binpack.memory")),
        ]
        listed = [name.strip() for name in fields.text(_RESOURCES).split(",") if name.strip()]
        resources += [(name, _resource_weight(fields, f"{_RESOURCES}.{name}")) for name in listed]
        for name in list(fields.unread()):
            advice = choices(name, sorted(fields.asked))
            if name.startswith(_RESOURCES):
                advice = f"list the resource under {_RESOURCES}"
            fields.findings.warn(fields.at(name), f"a field that Volcano does not read; {advice}", at_key=True)
        weighed = tuple((name, each) for name, each in dict(resources).items() if each)
        return PluginSettings(cls(weighed), weight=weight)

    @property
    def weighed(self) -> tuple[str, ...]:
        """Names of the resources."""
        return tuple(name for name, _ in self.resources)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node; 0 for a pod that asks for none of the resources."""
        total = np.zeros(placement.columns.node_count, dtype=np.float64)
        weights = 0
        for weight, use in self._uses(pod, placement):
            total += weight * _share(use)
            weights += weight
        points: IntArray = (MAX_SCORE * total / max(weights, 1)).astype(np.int64)
        return points

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Share that each resource would be used to, and their mean."""
        scores = self.score(pod, placement, feasible)
        found = [(weight, use, _share(use)) for weight, use in self._uses(pod, placement)]
        if not found:
            names = ", ".join(name for name, _ in self.resources)
            return [f"the pod asks for none of {names}: {scores[node]}" for node in nodes]
        mean = mean_of([weight for weight, _, _ in found])
        return [
            f"{'; '.join(_told(use, float(share[node]), node) for _, use, share in found)}; {mean} {scores[node]}"
            for node in nodes
        ]

    def _uses(self, pod: int, placement: Placement) -> list[tuple[int, ResourceUse]]:
        found = uses(pod, placement, self.resources, has_defaults=False)
        return [(weight, use) for weight, use in found if use.request]


def _share(use: ResourceUse) -> npt.NDArray[np.float64]:
    """Share of each node that would be used; 0 where that is more than it offers."""
    used = use.before + use.request
    offered = use.allocatable
    share = np.divide(used, offered, out=np.zeros(len(offered), dtype=np.float64), where=offered > 0)
    return np.where(used <= offered, share, 0.0)


def _told(use: ResourceUse, share: float, node: int) -> str:
    before, request, offered = use.told(node)
    if use.allocatable[node] <= 0:
        return f"{use.resource} is not offered = 0.0"
    if use.before[node] + use.request > use.allocatable[node]:
        return f"{use.resource} would be over-full ({before} + {request} of {offered}) = 0.0"
    return f"{use.resource} 100 x ({before} + {request}) / {offered} = {MAX_SCORE * share:.1f}"


def _resource_weight(fields: Fields, name: str) -> int:
    value = fields.integer(name, 1)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value}; Volcano goes by its default, 1")
        return 1
    return value
