"""The watcher's own metrics, as a Prometheus would scrape them."""

from __future__ import annotations

import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import ask
from tests.unit.daemon.api.records import NAN, NOW, SetSource, collected

Scraped = dict[tuple[str, tuple[str, ...]], float]


def scraped(text: str) -> Scraped:
    """Values by name and label values, these in the order of the labels' names."""
    families = text_string_to_metric_families(text)
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def scrape(source: SetSource, *targets: str) -> Scraped:
    """What is scraped after these requests, ten seconds after the record."""
    app = create_app(source, FakeClock(NOW + 10), interval=15.0)
    for target in targets:
        ask(app, target)
    answer = ask(app, "/metrics")
    assert answer.status == 200
    assert answer.type.startswith("text/plain; version=")
    return scraped(answer.text)


def test_ticks_trust_and_ages_are_told() -> None:
    """One value for each state of trust, zero included."""
    known = collected(
        {name: {"average": 1.0} for name in ("a", "b", "c")},
        trust={"c": Trust(TrustState.MISSING)},
        measured_at=np.array([NOW, NOW - 20, NAN]),
        assessment={"freeze": "coverage", "falls_back": True},
        ticks=9, overrun_ticks=2, lost_ticks=3, dropped_pods=4, store_error="disk full",
    )  # fmt: skip
    found = scrape(SetSource(known))
    for name, value in {
        "ticks_total": 9, "ticks_overrun_total": 2, "ticks_lost_total": 3, "pods_dropped_total": 4, "store_up": 0,
        "cluster_up": 1, "frozen": 1, "falls_back": 1, "last_tick_timestamp_seconds": NOW, "pods": 0,
        "oldest_sample_age_seconds": 30, "median_sample_age_seconds": 20,
    }.items():  # fmt: skip
        assert found[f"rescheduler_watcher_{name}", ()] == value, name
    states = {labels[0]: value for (name, labels), value in found.items() if name == "rescheduler_watcher_nodes"}
    assert states == {state.value: {"Trusted": 2, "Missing": 1}.get(state.value, 0) for state in TrustState}


def test_providers_of_one_name_are_told_apart() -> None:
    """By their place in the policy."""
    providers = (
        ProviderHealth("Prometheus", error="down", answered_at=NOW, dropped=5),
        ProviderHealth("Prometheus", answered_at=NOW, is_used=True),
    )
    found = scrape(SetSource(collected(providers=providers)))
    for name, values in (("up", (0, 1)), ("used", (0, 1)), ("samples_dropped_total", (5, 0))):
        for place, value in enumerate(values):
            assert found[f"rescheduler_watcher_provider_{name}", (str(place), "Prometheus")] == value


def test_before_the_first_tick_nothing_is_told_of_nodes() -> None:
    """A metric of which nothing is known is absent, not zero."""
    found = scrape(SetSource())
    assert found["rescheduler_watcher_ticks_total", ()] == 0
    assert not any(name.startswith("rescheduler_watcher_nodes") for name, _ in found)


def test_requests_are_counted_under_a_few_paths() -> None:
    """However many hosts are asked for, and whatever nonsense, the number of series stays the same."""
    targets = [f"/watcher/n{place}" for place in range(50)] + ["/nonsense", "/more/of/it", "/watcher?host=n1"]
    found = scrape(SetSource(collected()), *targets)
    name = "rescheduler_watcher_http_requests_total"
    counts = {labels: value for (series, labels), value in found.items() if series == name}
    assert counts == {
        ("200", "/watcher/{hostname}"): 2.0,
        ("404", "/watcher/{hostname}"): 48.0,
        ("404", "other"): 2.0,
        ("200", "/watcher"): 1.0,
    }


def test_two_applications_count_apart() -> None:
    """Nothing is kept for the whole process."""
    scrape(SetSource(collected()), "/watcher")
    assert not any(name.endswith("http_requests_total") for name, _ in scrape(SetSource(collected())))
