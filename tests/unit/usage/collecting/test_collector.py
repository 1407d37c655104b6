"""Tests of the collector: ticks, fall-back, gaps, pods, stores, and the record that others read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rescheduler.extension_points import ClusterError, MetricsError, MetricsProvider
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU
from rescheduler.model.usage.recent_use import RecentUse
from rescheduler.model.usage.samples import MetricsSample
from rescheduler.model.usage.trust import TrustState
from rescheduler.model.usage.usage import Departure, Usage
from rescheduler.policy.fields.usage import UsagePolicy, UsageTrust
from rescheduler.usage.collecting.collected import Collected, Observed
from rescheduler.usage.collecting.collector import Collector
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.usage.cases import FakeProvider, answer, failing, moving, nan, nodes, pod_samples, steady
from tests.unit.usage.test_store_writer import FakeStore

POLICY = UsagePolicy()


def usage(collected: Collected, seconds: float = 300.0) -> Usage:
    """One window."""
    found = collected.windows.over(seconds)
    assert found is not None
    return found


def states(collected: Collected, seconds: float = 300.0) -> list[str]:
    """State of each node."""
    assessment = collected.assessment(seconds)
    assert assessment is not None
    return [str(trust.state) for trust in assessment.nodes]


def collector(*providers: MetricsProvider, observed: Observed | None = None, **fields: Any) -> Collector:
    """Over five old nodes."""
    seen = observed or Observed(nodes())
    return Collector(providers, lambda: seen, fields.pop("policy", POLICY), **fields)


def run(subject: Collector, ticks: int, start: float = NOW) -> Collected:
    """So many ticks from ``start``."""
    for tick in range(ticks):
        subject.tick(start + 15 * tick)
    return subject.collected


def test_before_the_first_tick_nothing_is_known() -> None:
    """The record is there all the same, so that a server can start."""
    subject = collector(FakeProvider(steady))
    assert subject.collected.ticks == 0
    assert [health.name for health in subject.collected.providers] == ["Prometheus"]
    assert not subject.collected.providers[0].is_answering


def test_history_fills_the_windows_at_the_start_and_is_asked_for_once() -> None:
    """From the longest window on; a node is trusted at the first tick."""
    provider = FakeProvider(steady, kept=steady)
    subject = collector(provider)
    assert states(subject.tick(NOW)) == ["Trusted"] * 5
    run(subject, 3, NOW + 15)
    assert provider.histories == [(NOW - 900, NOW)]
    assert usage(subject.collected, 900.0).statistics[CPU].count.tolist() == [60.0] * 5


def test_without_history_samples_gather_tick_by_tick() -> None:
    """New until there are three, and the reason says what is being waited for."""
    subject = collector(FakeProvider(steady))
    assert states(run(subject, 2)) == ["New"] * 5
    assert states(run(subject, 1, NOW + 30)) == ["Trusted"] * 5


def test_one_command_with_a_source_without_history_goes_by_requests() -> None:
    """And is told what could gather samples; the policy may be content with one."""
    found = collector(FakeProvider(steady, "MetricsServer")).tick(NOW)
    assessment = found.assessment(300.0)
    assert assessment is not None
    assert assessment.falls_back
    assert states(found) == ["New"] * 5
    assert "rescheduler watcher" in assessment.freeze
    content = UsagePolicy(trust=UsageTrust(minimum_samples=1))
    assert states(collector(FakeProvider(steady), policy=content).tick(NOW)) == ["Trusted"] * 5


def test_a_gap_is_filled_from_history() -> None:
    """After an outage, from the newest sample on."""
    provider = FakeProvider(steady, kept=steady)
    subject = collector(provider)
    run(subject, 2)
    provider.script = failing
    run(subject, 10, NOW + 30)
    assert states(subject.collected) == ["Stale"] * 5
    provider.script = steady
    found = subject.tick(NOW + 180)
    assert provider.histories[1:] == [(NOW + 15, NOW + 180)]
    assert states(found) == ["Trusted"] * 5
    assert usage(found).statistics[CPU].count.tolist() == [20.0] * 5


def test_a_source_that_is_slower_than_we_ask_has_no_gaps() -> None:
    """One scrape a minute, told at four ticks: history is asked for at the start alone."""

    def script(now: float) -> MetricsSample:
        scraped = now - now % 60
        return moving([0.3, 0.4, 0.5, 0.6, 0.7], scraped, age=0.0)

    provider = FakeProvider(lambda now: _asked_at(script(now), now), kept=lambda now: _asked_at(script(now), now))
    found = run(collector(provider), 30)
    assert len(provider.histories) == 1
    assert states(found) == ["Trusted"] * 5
    assert found.good_for == 180.0


def _asked_at(found: MetricsSample, now: float) -> MetricsSample:
    samples = type(found.nodes)(found.nodes.nodes, np.array([now]), found.nodes.values, found.nodes.measured_at)
    return MetricsSample(samples)


def test_a_history_that_fails_is_told_and_does_not_stop_the_rest() -> None:
    """The live sample counts."""
    found = collector(FakeProvider(steady, kept=failing)).tick(NOW)
    assert found.providers[0].history_error.endswith("connection refused")
    assert found.providers[0].is_answering
    assert states(found) == ["New"] * 5
    assert "keeps no history" not in str(found.assessment(300.0))


def test_the_next_provider_stands_in_and_the_first_comes_back() -> None:
    """Both are asked at every tick, so nothing is lost in between."""
    first, second = FakeProvider(steady, "A"), FakeProvider(steady, "B")
    subject = collector(first, second)
    assert run(subject, 4).source == "A"
    first.script = failing
    found = run(subject, 4, NOW + 60)
    assert found.source == "B"
    assert states(found) == ["Trusted"] * 5
    assert (found.providers[0].error, found.providers[0].since) == (
        "Prometheus at http://127.0.0.1:9090: connection refused", NOW + 60)  # fmt: skip
    assert (found.providers[0].answered_at, found.providers[1].since) == (NOW + 45, NOW)
    first.script = steady
    found = subject.tick(NOW + 120)
    assert (found.source, found.providers[0].error, found.providers[0].since) == ("A", "", NOW + 120)


def test_providers_that_disagree_make_a_node_disputed() -> None:
    """With both answers in the reason."""

    def other(now: float) -> MetricsSample:
        found = steady(now)
        found.nodes.values[CPU][0, 2] += 0.3
        return found

    found = run(collector(FakeProvider(steady, "A"), FakeProvider(other, "B")), 4)
    assert states(found) == ["Trusted", "Trusted", "Disputed", "Trusted", "Trusted"]
    assert usage(found).is_valid.tolist() == [True, True, False, True, True]


def test_without_any_provider_or_any_node_there_is_nothing() -> None:
    """Neither is an error."""
    assert states(collector().tick(NOW)) == ["Missing"] * 5
    found = collector(FakeProvider(steady), observed=Observed(())).tick(NOW)
    assert (states(found), found.ticks) == ([], 1)


def test_a_cluster_that_cannot_be_read_keeps_the_nodes_known_before() -> None:
    """And says so."""
    seen = [Observed(nodes())]

    def observe() -> Observed:
        if not seen:
            raise ClusterError("the API server does not answer")
        return seen[0]

    subject = Collector([FakeProvider(steady)], observe, POLICY)
    run(subject, 3)
    seen.clear()
    found = subject.tick(NOW + 45)
    assert found.cluster_error == "the API server does not answer"
    assert states(found) == ["Trusted"] * 5


def test_pods_are_asked_for_at_their_own_beat() -> None:
    """Every fourth tick by default, of the provider that counts alone."""
    provider, other = FakeProvider(steady, "A"), FakeProvider(steady, "B")

    def script(now: float) -> MetricsSample:
        asked_pods = provider.asked[-1][1]
        use = pod_samples({("default", "web-0"): 150.0}, now) if asked_pods else None
        return moving([0.4, 0.41, 0.42, 0.43, 0.44], now, pods=use)

    provider.script = script
    observed = Observed(nodes(), (pod("web-0", node="n0"), pod("web-1", node="n1")))
    subject = collector(provider, other, observed=observed)
    found = run(subject, 6)
    assert [with_pods for _, with_pods in provider.asked] == [True, False, False, False, True, False]
    assert not any(with_pods for _, with_pods in other.asked)
    assert np.array_equal(usage(found).pod_use[CPU], [150.0, nan], equal_nan=True)
    assert [one.name for one in found.pods] == ["web-0", "web-1"]


def test_pods_are_not_asked_for_where_nobody_knows_them() -> None:
    """Their samples could not be told apart from those of other clusters."""
    provider = FakeProvider(steady)
    run(collector(provider), 2)
    assert [with_pods for _, with_pods in provider.asked] == [False, False]


def test_a_node_that_uses_less_than_its_pods_is_implausible() -> None:
    """4 cores at 1 % against a pod of 3 cores."""

    def script(now: float) -> MetricsSample:
        use = pod_samples({("default", "web-0"): 3000.0}, now)
        return moving([0.01, 0.41, 0.42, 0.43, 0.44], now, pods=use)

    observed = Observed(nodes(), (pod("web-0", node="n0"),))
    found = run(collector(FakeProvider(script), observed=observed), 4)
    assert states(found)[0] == "Implausible"
    assert "uses less than a tenth of what its pods use" in str(found.assessment(300.0))


def test_a_store_is_restored_and_history_fills_what_is_missing_since() -> None:
    """A restart loses nothing, and asks for little."""
    store = FakeStore()
    store.kept = [NOW - 900 + 15 * tick for tick in range(50)]
    restored = [steady(time).nodes for time in store.kept]
    store.restore = lambda _: restored  # type: ignore[method-assign]
    provider = FakeProvider(steady, kept=steady)
    subject = collector(provider, store=store)
    assert states(subject.tick(NOW)) == ["Trusted"] * 5
    assert provider.histories == [(NOW - 900 + 15 * 49, NOW)]
    assert usage(subject.collected, 900.0).statistics[CPU].count.tolist() == [59.0 + 1] * 5


def test_restored_samples_bear_the_first_providers_name_until_one_answers() -> None:
    """Clients of the watcher are told whose load they read, though the provider is gone at a restart."""
    store = FakeStore()
    restored = [steady(NOW - 900 + 15 * tick).nodes for tick in range(60)]
    store.restore = lambda _: restored  # type: ignore[method-assign]

    def gone(now: float) -> MetricsSample:
        raise MetricsError("cannot be reached")

    first, second = FakeProvider(gone), FakeProvider(gone, "MetricsServer")
    assert collector(first, second, store=store).tick(NOW).source == "Prometheus"
    assert collector(first, second).tick(NOW).source == ""
    second.script = steady
    assert collector(first, second, store=store).tick(NOW).source == "MetricsServer"


def test_a_store_that_fails_is_told_and_nothing_else_changes() -> None:
    """A full disk stops the file, not the watcher."""
    store = FakeStore()
    store.fails = True
    found = run(collector(FakeProvider(steady), store=store), 4)
    assert found.store_error == "usage.sqlite: no space left on the disk"
    assert states(found) == ["Trusted"] * 5


def test_a_young_node_with_none_but_new_pods_has_their_predicted_load() -> None:
    """Measured load 0; what its pods will use is added where loads are corrected."""
    young = replace(node("n4"), created_at=NOW - 120)
    pods = (pod("new-0", cpu="500m", node="n4", scheduled_at=NOW - 100), pod("old-0", node="n0"))
    observed = Observed((*nodes(4), young), pods)

    def script(now: float) -> MetricsSample:
        return moving([0.4, 0.41, 0.42, 0.43, nan], now)

    found = run(collector(FakeProvider(script), observed=observed), 4)
    assert states(found) == ["Trusted"] * 4 + ["Predicted"]
    seen = usage(found)
    assert seen.is_valid.all()
    assert seen.percent(CPU)[4] == 0.0
    snapshot = cluster(*observed.nodes, *pods, taken_at=NOW + 50)
    assert seen.is_fresh(snapshot.taken_at).all()
    columns = columns_of(snapshot)
    corrections = columns.facts(RecentUse(seen)).of(Placement(columns))
    assert corrections[0].tolist() == [0.0, 0.0, 0.0, 0.0, 750.0]


def test_departures_are_handed_on_and_subtracted() -> None:
    """What was just evicted still weighs in the averages."""
    gone = pod("gone-0", cpu="400m")
    observed = Observed(nodes(), (), departures=(Departure("n1", NOW + 40, gone.spec),))
    seen = usage(run(collector(FakeProvider(steady), observed=observed), 4))
    columns = columns_of(cluster(*nodes(), taken_at=NOW + 60))
    assert columns.facts(RecentUse(seen)).of(Placement(columns))[0].tolist() == [0.0, -600.0, 0.0, 0.0, 0.0]


def test_nodes_come_and_go() -> None:
    """Arrays always fit the nodes of the tick; one that comes back in time still has its history."""
    seen: list[tuple[Node, ...]] = [nodes(5)]

    def script(now: float) -> MetricsSample:
        found = steady(now)
        names = tuple(one.name for one in seen[0])
        columns = [int(name[1:]) for name in names]
        values = {metric: rows[:, columns] for metric, rows in found.nodes.values.items()}
        return MetricsSample(type(found.nodes)(names, found.nodes.times, values, found.nodes.measured_at[:, columns]))

    subject = Collector([FakeProvider(script)], lambda: Observed(seen[0]), POLICY)
    run(subject, 4)
    seen[0] = (nodes(5)[3], nodes(5)[0])
    found = run(subject, 2, NOW + 60)
    assert [one.name for one in found.nodes] == ["n3", "n0"]
    assert states(found) == ["Trusted"] * 2
    seen[0] = nodes(5)
    found = subject.tick(NOW + 90)
    assert usage(found).statistics[CPU].count.tolist() == [7.0, 5.0, 5.0, 7.0, 5.0]
    assert states(found) == ["Trusted"] * 5


def test_ticks_keep_their_beat_and_leave_out_what_a_slow_one_missed() -> None:
    """A provider that takes 40 s once costs two beats, and no tick is made up for."""
    clock = FakeClock()
    durations = [1.0, 40.0, 1.0, 1.0]
    began: list[float] = []

    def script(now: float) -> MetricsSample:
        began.append(clock.time)
        clock.time += durations[len(began) - 1]
        return steady(now)

    def wait(seconds: float) -> bool:
        clock.time += seconds
        return len(began) == len(durations)

    subject = collector(FakeProvider(script))
    subject.run(clock, wait)
    assert [at - NOW for at in began] == [0.0, 15.0, 60.0, 75.0]
    assert subject.collected.overrun_ticks == 2


def test_readers_see_whole_records() -> None:
    """Arrays, nodes and trust of one tick belong together, whenever another thread looks."""
    subject = collector(FakeProvider(steady))
    stop, wrong = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            found = subject.collected
            widths = {one.node_count for one in found.windows.by_seconds.values()} | {len(found.nodes)}
            if len(widths) > 1 or (found.ticks and found.at != NOW + 15 * (found.ticks - 1)):
                wrong.append((widths, found.ticks))

    reader = threading.Thread(target=read)
    reader.start()
    run(subject, 30)
    stop.set()
    reader.join()
    assert wrong == []


value = st.one_of(st.floats(width=32), st.floats(0.05, 0.9), st.sampled_from([nan, 0.0, float("inf"), -1.0, 1e308]))


@settings(max_examples=40)
@given(st.lists(st.one_of(st.none(), st.lists(value, min_size=3, max_size=3)), min_size=1, max_size=8))
def test_whatever_is_said_at_each_tick_no_load_is_made_up(said: Sequence[list[float] | None]) -> None:
    """No exception; each average lies among the values given for its node; no value, no load."""
    told = list(said)

    def script(now: float) -> MetricsSample:
        found = told[round((now - NOW) / 15)]
        return failing(now) if found is None else answer(found, now, memory=[0.5, 0.4, 0.3])

    found = run(collector(FakeProvider(script), observed=Observed(nodes(3))), len(told))
    for number in range(3):
        possible = [row[number] for row in told if row is not None and 0 <= row[number] <= 1.5]
        average = float(usage(found).statistics[CPU].average[number])
        if not possible:
            assert np.isnan(average)
        else:
            assert 100 * min(possible) - 0.01 <= average <= 100 * max(possible) + 0.01
    assert all(TrustState(state) for state in states(found))


@pytest.mark.parametrize("shift", [-86400.0, -3600.0, 3600.0, 86400.0])
def test_a_clock_that_jumps_recovers(shift: float) -> None:
    """Nothing raises, and after a few ticks on the new time all is trusted again."""
    subject = collector(FakeProvider(steady))
    run(subject, 5)
    assert states(run(subject, 5, NOW + shift)) == ["Trusted"] * 5
