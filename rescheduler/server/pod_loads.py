"""Load of pods in the document, an extension that other clients pass over."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.usage import FloatArray
from rescheduler.policy.values import format_duration
from rescheduler.server.load_document import LoadOf, Metric, plain_number
from rescheduler.usage.collected import Collected

_TYPES: Final = {CPU: "CPU", MEMORY: "Memory"}


def pod_loads(collected: Collected, window: float, nodes: Collection[str]) -> dict[str, LoadOf]:
    """Average load of the pods on these nodes, by ``NAMESPACE/NAME``, in percent of the node's capacity."""
    use = collected.pod_use.get(window)
    if use is None:
        return {}
    rollup = format_duration(window)
    columns = [(name, _percent(collected, name, values).tolist()) for name, values in use.average.items()]
    found: dict[str, LoadOf] = {}
    for place, pod in enumerate(collected.pods):
        if pod.node_name in nodes:
            own = [
                Metric(name, _TYPES[name], "AVG", rollup, plain_number(values[place]))
                for name, values in columns
                if 0 <= values[place] < np.inf
            ]
            if own:
                found[pod.key] = LoadOf(own)
    return found


def _percent(collected: Collected, resource: str, amounts: FloatArray) -> FloatArray:
    """Millicores or bytes of each pod, as percent of its node's capacity; NaN where that is not known."""
    capacity = {node.name: dict(node.capacity or node.allocatable).get(resource, 0) for node in collected.nodes}
    offered = np.array([capacity.get(pod.node_name or "", 0) for pod in collected.pods], dtype=np.float64)
    return 100.0 * amounts / np.where(offered > 0, offered, np.nan)
