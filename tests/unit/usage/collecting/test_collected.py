"""What people are told of from tick to tick: that something went wrong, and that it is well again, once each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rescheduler.usage.collecting.collected import Collected, news
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.builders import NOW
from tests.unit.daemon.api.records import collected

WELL = ProviderHealth("Prometheus", answered_at=NOW, is_used=True)
FAILING = replace(WELL, error="Prometheus at http://x: no answer within 10s", is_used=False)


def tick(provider: ProviderHealth = WELL, **fields: Any) -> Collected:
    """A tick after which the one provider is in this state."""
    return collected(providers=(provider,), **fields)


def test_a_failure_is_told_once_and_its_end_too() -> None:
    """However long it lasts, and though its text may change."""
    later = tick(replace(FAILING, error="Prometheus at http://x: refused"))
    assert list(news(tick(), tick(FAILING))) == ["Prometheus at http://x: no answer within 10s"]
    assert list(news(tick(FAILING), later)) == []
    assert list(news(later, tick())) == ["Prometheus: answers again"]
    assert list(news(tick(), tick())) == []


def test_the_first_tick_is_compared_with_nothing() -> None:
    """What is wrong from the start is told."""
    start = Collected(0.0, providers=(ProviderHealth("Prometheus"),))
    assert list(news(start, tick(FAILING, store_error="disk full"))) == [FAILING.error, "disk full"]
    assert list(news(Collected(0.0), tick())) == []


def test_warnings_of_a_source_are_told_when_they_are_new() -> None:
    """A partial answer, say."""
    warned = replace(WELL, warnings=("partial",))
    assert list(news(tick(), tick(warned))) == ["Prometheus: partial"]
    assert list(news(tick(warned), tick(warned))) == []


def test_freezes_cluster_and_store_are_told() -> None:
    """With the way back."""
    bad = {"assessment": {"freeze": "coverage"}, "cluster_error": "no API server", "store_error": "disk full"}
    assert list(news(tick(), tick(**bad))) == ["no API server", "disk full", "frozen: coverage"]
    assert list(news(tick(**bad), tick())) == [
        "nodes and pods can be read again",
        "samples are kept in the file again",
        "measured load may steer moves again",
    ]
