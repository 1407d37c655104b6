"""Many pods placed anew, one after another, as the scheduler would serve them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.kind import Kind
from rescheduler.scheduling.scheduler_model import SchedulerModel

_FEWEST_TOGETHER: Final = 8
"""Fewer pods in a row than this are placed one by one: laying them out for the loop costs more than it gains."""


def replace_in_sequence(model: SchedulerModel, placement: Placement, pods: Iterable[int]) -> IntArray:
    """The node of each pod in turn, int64[n], NOWHERE where none is feasible; ``placement`` is changed.

    Each pod leaves the node it is on, and goes to the first by name of its best nodes (where the scheduler would draw
    lots). Equal to ``forget``, ``best_nodes`` and ``assume`` for each, and much faster where no other pod's place
    matters: runs of such pods are placed in one loop over arrays.
    """
    found: list[int] = []
    for run, kinds in _runs(model, placement, list(pods)):
        arithmetic: Any = model.fast_path and model.fast_path.arithmetic
        if hasattr(arithmetic, "place_all") and kinds and len(run) >= _FEWEST_TOGETHER:
            nodes = arithmetic.place_all(kinds, placement.node_of[run].tolist(), placement)
            placement.replace(np.array(run, dtype=np.int64), nodes)
            found.extend(nodes.tolist())
        else:
            found.extend(_replace(model, placement, pod) for pod in run)
    return np.array(found, dtype=np.int64)


def _replace(model: SchedulerModel, placement: Placement, pod: int) -> int:
    placement.forget(pod)
    best = model.best_nodes(pod, placement)
    if not best.size:
        return NOWHERE
    node = int(best[0])
    placement.assume(pod, node)
    return node


def _runs(model: SchedulerModel, placement: Placement, pods: Sequence[int]) -> Iterator[tuple[list[int], list[Kind]]]:
    """Pods in order, cut into runs of pods with a kind (and these), and runs of pods without (and nothing)."""
    run: list[int] = []
    kinds: list[Kind] = []
    members: set[int] = set()
    for pod in pods:
        kind = _kind(model, placement, pod)
        if run and ((kind is None) == bool(kinds) or pod in members):
            yield run, kinds
            run, kinds, members = [], [], set()
        run.append(pod)
        members.add(pod)
        if kind is not None:
            kinds.append(kind)
    if run:
        yield run, kinds


def _kind(model: SchedulerModel, placement: Placement, pod: int) -> Kind | None:
    """The pod's kind, if it holds what it requests, on one node at most, and no nominations count."""
    if model.fast_path is None or model.heeds_nominations:
        return None
    is_simple = model.columns.cluster.pods[pod].held is None and placement.leaving[pod] == NOWHERE
    return model.fast_path.kinds.of(pod) if is_simple else None
