"""The curve over sizes of clusters: a row counts what was planned in its own process."""

from __future__ import annotations

import pytest

from benchmarks.growth import HEADER, main, row
from benchmarks.promises import NO_LIMIT


@pytest.mark.parametrize("evictions", [5, NO_LIMIT])
def test_a_row_tells_of_one_plan_and_its_rule(evictions: int) -> None:
    """No more moves than were allowed, nothing above the bound, and the times of its parts add up."""
    found = row(10, evictions, 5.0, 1)
    assert tuple(found) == HEADER
    assert found["nodes"] == "10"
    assert found["moves"] <= evictions
    assert found["rule"] <= found["ours"] <= found["bound"]
    assert found["deciding"] + found["planning"] + found["proving"] == pytest.approx(found["seconds"], abs=0.02)
    assert 0 < found["cluster"] <= found["MB"]


def test_each_size_is_measured_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """One row for each size and limit, in the order asked for, and success where no rule was better."""
    assert main(["--nodes", "10,20", "--evictions", "3,none", "--deadline", "5s"]) == 0
    rows = [line.split("|")[1:4] for line in capsys.readouterr().out.splitlines()[3:]]
    assert [(one[0].strip(), one[2].strip()) for one in rows] == [
        ("10", "3"), ("20", "3"), ("10", "none"), ("20", "none")
    ]  # fmt: skip
