"""A provider's answer may be anything: what has another form than was promised is told of, and never used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rescheduler.model.usage.samples import MetricsSample, NodeSamples, PodKey, PodSamples, no_samples
from rescheduler.usage.checks.shapes import wrong_history, wrong_sample
from tests.builders import NOW

GOOD = MetricsSample(no_samples(("a", "b"), NOW))


def spoiled(change: Callable[[Any], None]) -> MetricsSample:
    """A sample that was changed after it was made."""
    found = no_samples(("a", "b"), NOW)
    change(found.values)
    return MetricsSample(found)


def short_cpu(values: Any) -> None:
    """One value for two nodes."""
    values["cpu"] = np.zeros((1, 1))


def list_cpu(values: Any) -> None:
    """No array."""
    values["cpu"] = [[0.1, 0.2]]


def text_cpu(values: Any) -> None:
    """Texts for numbers."""
    values["cpu"] = np.array([["1", "2"]])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, "None; wanted a MetricsSample"),
        (MetricsSample(None), "None; wanted NodeSamples"),  # type: ignore[arg-type]
        (MetricsSample(no_samples(("a", "b"), np.nan)), "times that are no numbers"),
        (spoiled(short_cpu), "samples: cpu has the shape (1, 1), wanted (1, 2)"),
        (spoiled(list_cpu), "'list' object has no attribute 'shape'"),
        (spoiled(text_cpu), "an array of <U1; wanted float64"),
        (replace(GOOD, pods=3), "3; wanted PodSamples"),
        (
            replace(GOOD, pods=PodSamples((PodKey("a", "b"),), {"cpu": np.zeros(2)}, np.zeros(1))),
            "values of another shape than the 1 pods",
        ),
        (GOOD, ""),
        (replace(GOOD, pods=PodSamples((PodKey("a", "b"),), {"cpu": np.zeros(1)}, np.zeros(1))), ""),
    ],
    ids=str,
)
def test_another_form_than_promised_is_told(answer: Any, text: str) -> None:
    """NaN is what is not known, and fine."""
    assert wrong_sample(answer) == text


def test_history_has_the_form_of_samples() -> None:
    """At any number of times."""
    assert wrong_history(NodeSamples(("a",), np.zeros(3), {}, np.zeros((3, 1)))) == ""
    assert wrong_history(GOOD) != ""
