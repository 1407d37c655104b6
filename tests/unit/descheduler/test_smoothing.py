"""Smoothing of nodes' use as descheduler 0.36.0 does it, by figures that its own arithmetic gives."""

from __future__ import annotations

from rescheduler.descheduler.smoothing import smoothed


def test_a_first_sample_counts_as_it_is() -> None:
    """Nothing is kept of a node that was never seen."""
    assert smoothed({}, {"a": {"cpu": 1234, "memory": 7}}) == {"a": {"cpu": 1234, "memory": 7}}


def test_each_further_sample_moves_what_is_kept_by_a_tenth() -> None:
    """From 1000m to 2000m: 1100, 1190, 1271, 1344 - each rounded before the next."""
    kept = smoothed({}, {"a": {"cpu": 1000, "memory": 2**30}})
    found = []
    for _ in range(4):
        kept = smoothed(kept, {"a": {"cpu": 2000, "memory": 2**30}})
        found.append(kept["a"]["cpu"])
    assert found == [1100, 1190, 1271, 1344]
    assert kept["a"]["memory"] == 2**30


def test_halves_go_up() -> None:
    """0.9 x 5 is 4.5: that stays 5 in Go, so that a node's last millicores never go."""
    assert smoothed({"a": {"cpu": 5}}, {"a": {"cpu": 0}}) == {"a": {"cpu": 5}}
    assert smoothed({"a": {"cpu": 15}}, {"a": {"cpu": 0}}) == {"a": {"cpu": 14}}


def test_a_node_without_a_sample_keeps_what_it_has() -> None:
    """Its metrics may be late; others go on, and new ones come in."""
    kept = {"a": {"cpu": 100}, "b": {"cpu": 100}}
    found = smoothed(kept, {"b": {"cpu": 200}, "c": {"cpu": 300}})
    assert found == {"a": {"cpu": 100}, "b": {"cpu": 110}, "c": {"cpu": 300}}
