"""Another package's provider may raise or answer anything: it is named, and its load stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rescheduler.adapters.metrics.guarded_provider import GuardedProvider
from rescheduler.extension_points import MetricsError
from rescheduler.model.usage.samples import MetricsSample, NodeSamples, PodKey, PodSamples, no_samples
from tests.builders import NOW, node

NODES = [node("a"), node("b")]
GOOD = MetricsSample(no_samples(("a", "b"), NOW))


class Answering:
    """A provider that answers what it was made with, or raises it."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def sample(self, *_: Any, **__: Any) -> Any:
        """The answer."""
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    history = sample


def guarded(answer: Any) -> GuardedProvider:
    """The guard round such a provider."""
    return GuardedProvider("Stars", lambda: Answering(answer))  # type: ignore[arg-type, return-value]


def sampled(answer: Any) -> MetricsSample:
    """What becomes of its sample."""
    return guarded(answer).sample(NODES, now=NOW, with_pods=True)


def spoiled(change: Callable[[NodeSamples], None]) -> MetricsSample:
    """A sample that was changed after it was made."""
    found = no_samples(("a", "b"), NOW)
    change(found)
    return MetricsSample(found)


def short_cpu(found: NodeSamples) -> None:
    """One value for two nodes."""
    found.values["cpu"] = np.zeros((1, 1))  # type: ignore[index]


def text_cpu(found: NodeSamples) -> None:
    """Texts for numbers."""
    found.values["cpu"] = np.array([["1", "2"]])  # type: ignore[index]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (KeyError("moon"), "sample raised KeyError: 'moon'"),
        (None, "sample answered None; wanted a MetricsSample"),
        (MetricsSample(None), "sample answered None; wanted NodeSamples"),  # type: ignore[arg-type]
        (MetricsSample(no_samples(("b", "a"), NOW)), "samples of other nodes than were asked for"),
        (MetricsSample(NodeSamples(("a", "b"), np.zeros(2), {}, np.zeros((2, 2)))), "2 times; wanted one"),
        (MetricsSample(no_samples(("a", "b"), np.nan)), "times that are no numbers"),
        (spoiled(short_cpu), "samples: cpu has the shape (1, 1), wanted (1, 2)"),
        (spoiled(text_cpu), "wanted float64"),
        (replace(GOOD, pods=3), "wanted PodSamples"),
        (replace(GOOD, pods=PodSamples((PodKey("a", "b"),), {"cpu": np.zeros(2)}, np.zeros(1))), "than the 1 pods"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_an_error_that_names_it(answer: Any, text: str) -> None:
    """As any other provider's fault is: load stays unknown."""
    with pytest.raises(MetricsError) as caught:
        sampled(answer)
    assert str(caught.value).startswith('metrics provider "Stars": ')
    assert text in str(caught.value)


def test_what_is_right_goes_through() -> None:
    """NaN is what is not known; its own errors keep their words."""
    assert sampled(GOOD) is GOOD
    times = {"start": NOW - 60, "end": NOW, "step_seconds": 15.0}
    assert guarded(GOOD.nodes).history(NODES, **times) is GOOD.nodes
    assert guarded(None).history(NODES, **times) is None
    with pytest.raises(MetricsError, match=r"^no moon$"):
        sampled(MetricsError("no moon"))
    with pytest.raises(MetricsError, match=r'"Stars": history answered 3'):
        guarded(3).history(NODES, **times)


def test_one_that_cannot_be_made_is_named() -> None:
    """It is left out, with a warning."""

    def made() -> Any:
        raise ValueError("no moon")

    with pytest.raises(MetricsError, match='metrics provider "Stars": making it raised ValueError: no moon'):
        GuardedProvider("Stars", made)
