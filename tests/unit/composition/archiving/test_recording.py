"""Load of one moment in the form of an archive: percent of what nodes have, from the first provider that answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rescheduler.composition.archiving.recording import report_of
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import MetricsSample, NodeSamples, PodKey, PodSamples
from rescheduler.model.usage.usage_readings import Reading
from tests.builders import NOW, cluster, node, pod


class Answers:
    """A provider that knows node a and a pod on it."""

    name = "Answers"

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """Half of a's cpu, an eighth of its memory; 400 millicores of one pod."""
        nan = np.nan
        values = {CPU: np.array([[0.5, nan]]), MEMORY: np.array([[0.125, nan]])}
        known = NodeSamples(tuple(one.name for one in nodes), np.array([now]), values, np.array([[now, nan]]))
        pods = PodSamples(
            (PodKey("default", "p"), PodKey("default", "unknown")),
            {CPU: np.array([400.0, 1.0]), MEMORY: np.array([2.0**30, 1.0])},
            np.array([now, now]),
        )
        return MetricsSample(known, pods)


class Fails:
    """A provider that is out of reach."""

    name = "Fails"

    def sample(self, *_: Any, **__: Any) -> MetricsSample:
        """Never answers."""
        raise MetricsError("out of reach")


def test_the_first_that_answers_is_taken_and_the_others_are_told() -> None:
    """Pods in percent of their node; nothing is said of what is not known."""
    told: list[str] = []
    seen = cluster(node("a", cpu="4", memory="16Gi"), node("b"), pod("p", node="a"), taken_at=NOW)
    report = report_of(seen, [Fails(), Answers()], told.append)  # type: ignore[list-item]
    assert told == ["Fails: out of reach"]
    assert report is not None
    assert (report.window_end, report.source) == (NOW, "Answers")
    assert report.nodes == {"a": (Reading("CPU", "Latest", 50.0), Reading("Memory", "Latest", 12.5)), "b": ()}
    assert report.pods == {"default/p": (Reading("CPU", "Latest", 10.0), Reading("Memory", "Latest", 6.25))}
    assert report_of(seen, [Fails()], told.append) is None  # type: ignore[list-item]
