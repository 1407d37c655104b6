"""The page's benchmark on a small cluster: it measures pages, tells them as multiples, and judges their size."""

from __future__ import annotations

import pytest

from benchmarks import page


def test_a_table_of_multiples(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The yardstick counts every pod that has a node, and a later look is made anew."""
    monkeypatch.setattr("sys.argv", ["page", "--nodes", "10", "--pods", "600", "--runs", "1"])
    assert page.main() == 0
    told = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in told.splitlines() if line.startswith("|")][2:] == [
        "one pass", "first look", "later look",
    ]  # fmt: skip
    assert int(told.split()[-2]) > 10_000


def test_the_yardstick_looks_at_every_pod() -> None:
    """A pass that leaves pods out would make the page look dear."""
    assert sum(page.look_at_each_pod(page.large(nodes=10, pods=600)).values()) == 100
