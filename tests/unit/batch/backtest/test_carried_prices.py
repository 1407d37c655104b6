"""Prices travel with a task: whoever plans needs no file, and says the same money."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.batch.backtest.carried_prices import packed_prices, unpacked_prices
from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.policy import API_VERSION, Policy
from rescheduler.policy.reading.price_file import with_price_file

HEAD = f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\n"
TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
NODES = ({}, {TYPE: "a"}, {TYPE: "a", ZONE: "z"}, {TYPE: "b"}, {TYPE: "b", "price": "3"}, {ZONE: "z"})


@pytest.mark.parametrize(
    ("policy", "table"),
    [
        ("prices: {default: 2, per: month, currency: GBP}\n", ""),
        ("prices: {label: price, default: 2, hoursPerMonth: 100}\n", "instanceType,zone,price\na,,5\na,z,0\n,z,7\n"),
        ("", "instanceType,price\nb,1.5\n"),
    ],
)
def test_every_node_costs_the_same(policy: str, table: str, tmp_path: Path) -> None:
    """By label, by the closest row, by default, or not at all; in the same currency, after the file is gone."""
    before = parse_policy(HEAD + policy)
    if table:
        (tmp_path / "prices.csv").write_text(table)
        before = with_price_file(before, str(tmp_path / "prices.csv"))
        (tmp_path / "prices.csv").unlink()
    after = unpacked_prices(packed_prices(before))
    assert after.is_asked_for
    assert [after.a_month(labels) for labels in NODES] == [before.prices.a_month(labels) for labels in NODES]
    assert (after.currency, after.hours_per_month) == (before.prices.currency, before.prices.hours_per_month)


def test_nobody_asks_for_prices() -> None:
    """Then nothing travels."""
    assert packed_prices(Policy()) == b""
    assert not unpacked_prices(b"").is_asked_for
