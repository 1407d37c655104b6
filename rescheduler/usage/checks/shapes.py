"""A provider's answer has the form that it promised; one of another package may answer anything."""

from __future__ import annotations

import numpy as np

from rescheduler.model.printable import shortened
from rescheduler.model.usage.samples import MetricsSample, NodeSamples, PodSamples


def wrong_sample(found: object) -> str:
    """What is wrong with the form of an answer, in words; "" where nothing is."""
    if not isinstance(found, MetricsSample):
        return f"{shortened(repr(found))}; wanted a MetricsSample"
    return wrong_history(found.nodes) or _wrong_pods(found.pods)


def wrong_history(found: object) -> str:
    """The same of samples of nodes."""
    if not isinstance(found, NodeSamples):
        return f"{shortened(repr(found))}; wanted NodeSamples"
    try:
        found.__post_init__()  # the arrays may have been changed since they were checked
    except (AttributeError, TypeError, ValueError) as error:
        return str(error)
    arrays = (found.times, found.measured_at, *found.values.values())
    other = next((array.dtype for array in arrays if not np.issubdtype(array.dtype, np.floating)), None)
    if other is not None:
        return f"an array of {other}; wanted float64"
    return "" if np.isfinite(found.times).all() else "times that are no numbers"


def _wrong_pods(found: object) -> str:
    if found is None:
        return ""
    if not isinstance(found, PodSamples):
        return f"{shortened(repr(found))}; wanted PodSamples"
    wanted = (len(found.pods),)
    is_whole = all(getattr(array, "shape", None) == wanted for array in (found.measured_at, *found.values.values()))
    return "" if is_whole else f"values of another shape than the {len(found.pods)} pods"
