"""Tests of the file from which a campaign goes on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.soak.campaign import Totals
from tests.soak.record import Record


def shown(**fields: object) -> Totals:
    """What one run may have shown."""
    counted = {"struck": Counter({("evict", "timeout"): 3}), "guards": Counter({"I1": 7}), "crashes": Counter()}
    return Totals(runs=1, hours=3.5, accepted=4, **{**counted, **fields})  # type: ignore[arg-type]


def test_what_was_clean_is_known_again(tmp_path: Path) -> None:
    """With all its figures, pairs included."""
    Record(tmp_path / "runs", 3.0).append(5, shown())
    assert Record(tmp_path / "runs", 3.0).clean == {5: shown()}


def test_what_was_not_clean_or_of_another_length_is_run_again(tmp_path: Path) -> None:
    """The same seed is another run where it lasts longer; a violation is looked at anew on the mended code."""
    Record(tmp_path / "runs", 3.0).append(5, shown(violations=Counter({"I1": 1})))
    Record(tmp_path / "runs", 2.0).append(6, shown())
    assert Record(tmp_path / "runs", 3.0).clean == {}


def test_half_a_line_is_none(tmp_path: Path) -> None:
    """As a machine leaves it that stops amid the writing."""
    Record(tmp_path / "runs", 3.0).append(5, shown())
    with (tmp_path / "runs").open("a") as file:
        file.write('{"seed": 6, "hou')
    assert list(Record(tmp_path / "runs", 3.0).clean) == [5]


def test_sums_are_the_same_whether_runs_are_added_or_merged() -> None:
    """So that a campaign in pieces tells the figures of one in one piece."""
    whole = Totals()
    whole.merge(shown())
    whole.merge(shown())
    assert (whole.runs, whole.hours, whole.struck["evict", "timeout"], whole.guards["I1"]) == (2, 7.0, 6, 14)
