"""What was collected, put in the order of a snapshot's nodes and pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import FloatArray, Statistics, Usage, UsageWindows
from rescheduler.usage.collecting.collected import Collected

UNKNOWN: Final = Trust(TrustState.MISSING, "was not there when load was last collected")


def aligned(collected: Collected, nodes: Sequence[Node], pods: Sequence[Pod]) -> UsageWindows:
    """Windows of these nodes, with the use of these pods; what was not collected is unknown.

    A node or pod of the same name but another uid is another one.
    """
    node_places = _places(
        [(node.name, node.uid) for node in collected.nodes], [(node.name, node.uid) for node in nodes]
    )
    pod_places = _places([(pod.key, pod.uid) for pod in collected.pods], [(pod.key, pod.uid) for pod in pods])
    return UsageWindows(
        {
            seconds: _aligned(usage, node_places, _pod_use(collected, seconds, pod_places))
            for seconds, usage in collected.windows.by_seconds.items()
        }
    )


def _aligned(usage: Usage, places: IntArray, pod_use: Mapping[str, FloatArray]) -> Usage:
    trusts = usage.assessment.nodes if usage.assessment is not None else ()
    assessment = usage.assessment
    if assessment is not None:
        states = tuple(trusts[place] if place >= 0 else UNKNOWN for place in places.tolist())
        assessment = Assessment(states, assessment.freeze, assessment.falls_back)
    return replace(
        usage,
        statistics={
            name: Statistics(**{item.name: _taken(getattr(found, item.name), places) for item in fields(Statistics)})
            for name, found in usage.statistics.items()
        },
        window_end=_taken(usage.window_end, places),
        window_seconds=np.full(len(places), usage.window_seconds[0] if usage.node_count else 0.0),
        is_valid=_taken(usage.is_valid.astype(np.float64), places) == 1.0,
        pod_use=pod_use,
        assessment=assessment,
    )


def _pod_use(collected: Collected, seconds: float, places: IntArray) -> dict[str, FloatArray]:
    use = collected.pod_use.get(seconds)
    return {} if use is None else {name: _taken(values, places) for name, values in use.average.items()}


def _places(known: Sequence[tuple[str, str]], wanted: Sequence[tuple[str, str]]) -> IntArray:
    """Where each of ``wanted`` stands in ``known``, -1 where it does not."""
    place_of = {key: place for place, key in enumerate(known)}
    return np.fromiter((place_of.get(key, -1) for key in wanted), dtype=np.int64, count=len(wanted))


def _taken(values: npt.NDArray[np.float64], places: IntArray) -> FloatArray:
    """Values in the order of ``places``, NaN for -1."""
    padded = np.append(values, np.nan)  # -1 takes the last one
    taken: FloatArray = padded[places]
    return taken
