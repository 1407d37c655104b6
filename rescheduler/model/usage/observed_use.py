"""Load of nodes and pods in amounts that can be added up, for judging and predicting placements by real use."""

from __future__ import annotations

from dataclasses import dataclass

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.usage import FloatArray


@dataclass(frozen=True, eq=False)
class ObservedUse:
    """Use by resource (R), aligned with ``Cluster.nodes`` (N) and ``Cluster.pods`` (P): millicores, bytes, pieces.

    ``capacity``: float64[R, N], allocatable; ``of_pods``: float64[R, P], what each pod uses wherever it sits;
    ``of_rest``: float64[R, N], what a node uses beyond its pods, which no move changes. ``is_known``: bool[N], False
    where load must neither be judged nor sent. ``notes``: what stood in for what, for people.
    """

    resources: tuple[str, ...]
    capacity: FloatArray
    of_pods: FloatArray
    of_rest: FloatArray
    is_known: BoolArray
    notes: tuple[str, ...] = ()
