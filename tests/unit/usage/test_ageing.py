"""Tests of records that are read long after their tick."""

from __future__ import annotations

from rescheduler.model.usage.samples import MetricsSample
from rescheduler.usage.ageing import aged
from rescheduler.usage.collecting.collected import Collected, Observed
from rescheduler.usage.collecting.collector import Collector
from tests.builders import NOW
from tests.unit.usage.cases import FakeProvider, answer, nan, nodes, steady
from tests.unit.usage.collecting.test_collector import POLICY, run, states, usage

END = NOW + 45


def collected() -> Collected:
    """Four ticks over five nodes, the last at END."""
    return run(Collector([FakeProvider(steady)], lambda: Observed(nodes()), POLICY), 4)


def test_a_record_that_is_read_in_time_is_as_it_was() -> None:
    """The very same."""
    seen = collected()
    assert aged(seen, END + seen.good_for, 0.9) is seen
    assert aged(Collected(0.0), NOW, 0.9).windows.by_seconds == {}


def test_a_collector_that_hangs_is_not_believed_for_ever() -> None:
    """Every node is Stale in every window, nothing may move, and requests stand in; the record itself is unchanged."""
    seen = collected()
    late = aged(seen, END + seen.good_for + 1, 0.9)
    for seconds in (300.0, 600.0, 900.0):
        assert states(late, seconds) == ["Stale"] * 5
        assert not usage(late, seconds).is_valid.any()
    assessment = late.assessment(300.0)
    assert assessment is not None
    assert assessment.nodes[0].reason == "newest sample is 46s old by now, more than 45s"
    assert "only 0 of 5 nodes" in assessment.freeze
    assert assessment.falls_back
    assert states(seen) == ["Trusted"] * 5
    assert usage(seen).is_valid.all()


def test_what_was_distrusted_keeps_its_reason() -> None:
    """Missing does not become Stale."""

    def script(now: float) -> MetricsSample:
        healthy = steady(now)
        return answer([*healthy.nodes.values["cpu"][0, :4], nan], now)

    seen = run(Collector([FakeProvider(script)], lambda: Observed(nodes()), POLICY), 4)
    assert states(aged(seen, END + 100, 0.9)) == ["Stale"] * 4 + ["Missing"]
