"""Single samples of use as metrics providers give them, in our units, before any window or trust."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage import FloatArray

NETWORK: Final = "network"
DISK: Final = "disk"
CPU_PRESSURE: Final = "cpuPressure"
NODE_METRICS: Final = (CPU, MEMORY, NETWORK, DISK, CPU_PRESSURE)
"""What is kept of a node: cpu and memory as fractions of capacity, network as bytes per second (received and sent
together), disk as the fraction of time in which its busiest device worked, cpu pressure as the fraction of time in
which some task waited for a cpu (the kernel's pressure stall information)."""
POD_METRICS: Final = (CPU, MEMORY)
"""What is kept of a pod: cpu in millicores, memory (working set) in bytes."""


class PodKey(NamedTuple):
    """A pod as metrics know it; without a uid, since most sources have none."""

    namespace: str
    name: str


@dataclass(frozen=True, eq=False)
class NodeSamples:
    """Samples of N nodes at T times, oldest first; NaN where there is none.

    ``times``: float64[T], seconds since the epoch, when we asked. ``values``: by metric, float64[T, N], as the source
    says (units as NODE_METRICS): implausible values are passed on, for the analyser to judge. ``measured_at``:
    float64[T, N], the source's own time of each sample, the oldest of its metrics. ``uids``: of the nodes' objects, in
    the same order, "" where unknown, so that a node made anew under an old name is told apart; () for none known.
    """

    nodes: tuple[str, ...]
    times: FloatArray
    values: Mapping[str, FloatArray]
    measured_at: FloatArray
    uids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for arrays of other shapes."""
        wanted = (len(self.times), len(self.nodes))
        for name, array in {**self.values, "measured_at": self.measured_at}.items():
            if array.shape != wanted:
                raise ValueError(f"samples: {name} has the shape {array.shape}, wanted {wanted}")
        if self.uids and len(self.uids) != len(self.nodes):
            raise ValueError(f"samples: found {len(self.uids)} uids for {len(self.nodes)} nodes")


@dataclass(frozen=True, eq=False)
class PodSamples:
    """One sample of P pods: ``values`` by metric, float64[P], units as POD_METRICS; ``measured_at``: float64[P]."""

    pods: tuple[PodKey, ...]
    values: Mapping[str, FloatArray]
    measured_at: FloatArray


@dataclass(frozen=True)
class MetricsSample:
    """One answer of a provider.

    ``nodes``: T = 1, in the order in which nodes were asked for. ``unusable``: nodes whose sample could not be used at
    all (NaN, unparsable, two series that disagree), with what was found; their values are NaN. ``warnings``: what the
    source says about its own answer (partial responses); ``is_partial``: such an answer is not fresh.
    """

    nodes: NodeSamples
    pods: PodSamples | None = None
    unusable: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_partial: bool = False


def no_samples(nodes: tuple[str, ...], now: float) -> NodeSamples:
    """One time without any sample."""
    empty = np.full((1, len(nodes)), np.nan)
    return NodeSamples(nodes, np.array([now]), {metric: empty.copy() for metric in NODE_METRICS}, empty.copy())
