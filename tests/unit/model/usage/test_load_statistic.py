"""How a statistic's name is read."""

from __future__ import annotations

import pytest

from rescheduler.model.usage.load_statistic import LoadStatistic


@pytest.mark.parametrize(
    ("text", "deviations", "percentile"),
    [
        ("mean", 0, None),
        ("mean+2*std", 2, None),
        ("mean + 0.5*std", 0.5, None),
        ("p50", 0, "p50"),
        ("p99", 2.3263, "p99"),
    ],
)
def test_every_form_is_read(text: str, deviations: float, percentile: str | None) -> None:
    """Blanks do not matter; a percentile knows its normal margin."""
    found = LoadStatistic.of(text)
    assert (found.deviations, found.percentile) == (deviations, percentile)


@pytest.mark.parametrize("text", ["", "median", "mean+*std", "mean-1*std", "p42", "p9", "mean+2", "MEAN", "p95 p99"])
def test_anything_else_is_refused(text: str) -> None:
    """With what was found."""
    with pytest.raises(ValueError, match="statistic: found"):
        LoadStatistic.of(text)
