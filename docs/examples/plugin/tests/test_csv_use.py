"""CsvUse reads what is there, and says NaN of what is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from example_plugins.csv_use import CsvUse, CsvUseArgs

from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY

NODES = (Node("a"), Node("b"))


def test_the_newest_line_of_each_node_counts(tmp_path: Path) -> None:
    """Older than a minute is unknown; history has the line of its step."""
    (tmp_path / "use.csv").write_text("100,a,0.2,0.3\n160,a,0.4,0.5\n90,b,0.9,0.9\n", encoding="utf-8")
    provider = CsvUse.made(CsvUseArgs(file="use.csv"), ProviderContext(folder=tmp_path))
    now = provider.sample(NODES, now=170.0, with_pods=False).nodes
    assert np.array_equal(now.values[CPU], [[0.4, np.nan]], equal_nan=True)
    past = provider.history(NODES, start=100.0, end=220.0, step_seconds=60.0)
    assert past is not None
    assert np.array_equal(past.values[MEMORY], [[0.3, 0.9], [0.5, np.nan]], equal_nan=True)


def test_a_file_that_cannot_be_read_is_an_error_of_the_provider(tmp_path: Path) -> None:
    """It names the file; load is unknown then."""
    (tmp_path / "use.csv").write_text("yesterday,a,0.2,0.3\n", encoding="utf-8")
    with pytest.raises(MetricsError, match=r"CsvUse at .*use.csv: could not convert"):
        CsvUse(tmp_path / "use.csv").sample(NODES, now=0.0, with_pods=False)
