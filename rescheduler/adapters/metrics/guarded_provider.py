"""Another package's provider: whatever it raises or answers, nothing but a sample or a MetricsError comes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.printable import shortened
from rescheduler.model.usage.samples import MetricsSample, NodeSamples, PodSamples

Answer = TypeVar("Answer")


class GuardedProvider:
    """Names the provider in every error; an answer of a wrong shape is none, so that usage stays unknown."""

    def __init__(self, name: str, make: Callable[[], MetricsProvider]) -> None:
        """Raises MetricsError where ``make`` raises."""
        self.name = name
        self._provider = self._asked("making it", make)

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """As MetricsProvider."""
        found = self._asked("sample", lambda: self._provider.sample(nodes, now=now, with_pods=with_pods))
        if not isinstance(found, MetricsSample):
            raise self._wrong("sample", f"{shortened(repr(found))}; wanted a MetricsSample")
        self._check("sample", found.nodes, nodes)
        if len(found.nodes.times) != 1:
            raise self._wrong("sample", f"{len(found.nodes.times)} times; wanted one")
        if found.pods is not None:
            self._check_pods(found.pods)
        return found

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """As MetricsProvider."""
        found = self._asked(
            "history", lambda: self._provider.history(nodes, start=start, end=end, step_seconds=step_seconds)
        )
        if found is not None:
            self._check("history", found, nodes)
        return found

    def _asked(self, what: str, question: Callable[[], Answer]) -> Answer:
        try:
            return question()
        except MetricsError:
            raise
        except Exception as error:  # whatever code of others raises
            raise self._wrong(what, f"{type(error).__name__}: {error}", "raised") from error

    def _check(self, what: str, found: Any, nodes: Sequence[Node]) -> None:
        """Nodes in the order in which they were asked for, and numbers."""
        if not isinstance(found, NodeSamples):
            raise self._wrong(what, f"{shortened(repr(found))}; wanted NodeSamples")
        if found.nodes != tuple(node.name for node in nodes):
            raise self._wrong(what, "samples of other nodes than were asked for, or in another order")
        self._asked(what, found.__post_init__)  # the arrays may have been changed since they were checked
        for array in (found.times, found.measured_at, *found.values.values()):
            if not np.issubdtype(array.dtype, np.floating):
                raise self._wrong(what, f"an array of {array.dtype}; wanted float64")
        if not np.isfinite(found.times).all():
            raise self._wrong(what, "times that are no numbers")

    def _check_pods(self, found: Any) -> None:
        if not isinstance(found, PodSamples):
            raise self._wrong("sample", f"{shortened(repr(found))}; wanted PodSamples")
        for array in (found.measured_at, *found.values.values()):
            if getattr(array, "shape", None) != (len(found.pods),):
                raise self._wrong("sample", f"values of another shape than the {len(found.pods)} pods")

    def _wrong(self, what: str, text: str, how: str = "answered") -> MetricsError:
        return MetricsError(f'metrics provider "{self.name}": {what} {how} {shortened(text)}')
