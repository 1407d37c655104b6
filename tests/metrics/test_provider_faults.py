"""Every failure of a provider, injected before a real Prometheus: the state that each node ends in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import sin
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.trust import Assessment, TrustState
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.usage.collecting.collected import Collected, Observed
from rescheduler.usage.collecting.collector import Collector
from tests.builders import node
from tests.metrics.fault_proxy import (
    Fault,
    Proxy,
    Repeats,
    cut_json,
    doubled,
    empty_vectors,
    fault_proxy,
    honest,
    html_page,
    internal_error,
    lies,
    partial,
    reset,
    silence,
    slow_bytes,
    truncated,
    without,
)
from tests.metrics.prometheus_server import Point, prometheus_server, series

pytestmark = pytest.mark.e2e

COUNT = 24
SCRAPE = 15
START = 1_790_000_000.0
"""All happens at times of the tests' own choosing, long past: Prometheus is asked for them."""
NAMES = tuple(f"n{number:02}" for number in range(COUNT))
POLICY = UsagePolicy()
GIB = 2.0**30


def points() -> Iterator[Point]:
    """An hour of a healthy cluster: recording rules for cpu and memory, and what node-exporter says of itself."""
    for number, name in enumerate(NAMES):
        labels = {"instance": name, "job": "node"}
        for at in range(-2400, 1500, SCRAPE):
            when = START + at - number % 3
            cpu = 0.4 + 0.01 * number + 0.02 * sin(at / 37 + number)
            memory = 0.3 + 0.01 * number + 0.005 * sin(at / 91 + number)
            yield Point(series("instance:node_cpu_utilisation:rate5m", labels), when, cpu)
            yield Point(series("instance:node_memory_utilisation:ratio", labels), when, memory)
            yield Point(series("node_memory_MemTotal_bytes", labels), when, 16 * GIB)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The real server."""
    with prometheus_server(tmp_path_factory.mktemp("prometheus"), points()) as address:
        yield address


@pytest.fixture
def proxy(prometheus: str) -> Iterator[Proxy]:
    """A proxy before it."""
    with fault_proxy(prometheus) as found:
        yield found


class Watch:
    """A collector over the proxy, at times that go on by one interval a tick; ``nodes`` may change in between."""

    def __init__(self, proxy: Proxy, *others: Proxy) -> None:
        self.proxies = (proxy, *others)
        self.nodes: tuple[Node, ...] = tuple(replace(node(name), created_at=START - 86400) for name in NAMES)
        self.at = START
        self.collector = Collector(
            [provider(one.address) for one in self.proxies], lambda: Observed(self.nodes, ()), POLICY
        )
        self.tick()

    def tick(self, times: int = 1, fault: Fault | None = None) -> Collected:
        """Go on; ``fault`` is that of the first proxy from now on."""
        if fault is not None:
            self.proxies[0].fault = fault
        for _ in range(times):
            for proxy in self.proxies:
                proxy.now = self.at
            self.collector.tick(self.at)
            self.at += POLICY.interval
        return self.collector.collected

    def trust(self, seconds: float = 300.0) -> Assessment:
        """Over one window."""
        found = self.collector.collected.assessment(seconds)
        assert found is not None
        return found

    def states(self) -> dict[str, int]:
        """How many nodes are in each state."""
        return dict(Counter(str(trust.state) for trust in self.trust().nodes))


def provider(address: str) -> PrometheusProvider:
    """A provider that soon loses patience."""
    arguments = PrometheusArguments(address=address, timeout=0.6)
    return PrometheusProvider(arguments, http_session(arguments, None, provider="Prometheus", address=address))


def all_in(state: TrustState) -> dict[str, int]:
    """Every node."""
    return {str(state): COUNT}


def test_an_honest_source_is_trusted_from_the_first_tick(proxy: Proxy) -> None:
    """Its history fills the windows, and what it says is what was written."""
    watch = Watch(proxy)
    assert watch.states() == all_in(TrustState.TRUSTED)
    assert (watch.trust().freeze, watch.trust().falls_back) == ("", False)
    usage = watch.collector.collected.windows.over(300.0)
    assert usage is not None
    assert usage.percent("cpu")[10] == pytest.approx(50, abs=2)
    assert usage.is_valid.all()
    assert watch.collector.collected.good_for == 45.0
    watch.tick(10)
    assert watch.states() == all_in(TrustState.TRUSTED)
    assert watch.trust().freeze == ""


OUTAGES = {
    "time-out": (silence, "gave no whole answer within"),
    "reset": (reset, "onnection"),
    "500": (internal_error, "500"),
    "HTML": (html_page, "not JSON"),
    "truncated body": (truncated, "broke off"),
    "half a JSON": (cut_json, "not JSON"),
    "slow bytes": (slow_bytes, "gave no whole answer within"),
    "empty vectors": (empty_vectors, "has no sample of any of 24 nodes"),
    "a part only": (partial, "answered in part only: store 10.0.0.7 did not answer"),
}


@pytest.mark.parametrize("name", OUTAGES)
def test_a_source_that_gives_nothing_is_good_for_three_scrapes(name: str, proxy: Proxy) -> None:
    """Then every node is Stale and requests stand in for use; the first whole answer heals, its history the gap."""
    fault, words = OUTAGES[name]
    watch = Watch(proxy)
    collected = watch.tick(2, fault)
    assert watch.states() == all_in(TrustState.TRUSTED)
    assert words in collected.providers[0].error
    assert collected.providers[0].since == START + 15
    collected = watch.tick(3)
    assert watch.states() == all_in(TrustState.STALE)
    assert watch.trust().falls_back
    assert "only 0 of 24 nodes" in watch.trust().freeze
    assert collected.providers[0].since == START + 15
    collected = watch.tick(1, honest)
    assert watch.states() == all_in(TrustState.TRUSTED)
    assert (watch.trust().freeze, watch.trust().falls_back) == ("", False)
    assert collected.providers[0].error == ""
    usage = collected.windows.over(300.0)
    assert usage is not None
    assert usage.statistics["cpu"].count.tolist() == [20.0] * COUNT


def test_a_source_that_never_answers_leaves_every_node_missing(proxy: Proxy) -> None:
    """From the start: no load of 0 anywhere."""
    proxy.fault = internal_error
    watch = Watch(proxy)
    assert watch.states() == all_in(TrustState.MISSING)
    assert watch.trust().falls_back
    usage = watch.collector.collected.windows.over(300.0)
    assert usage is not None
    assert not (usage.percent("cpu") >= 0).any()


class Lie(NamedTuple):
    """What is said, for how many ticks, where that leads, and what is told."""

    fault: Fault
    ticks: int
    states: dict[str, int]
    freeze: str = ""
    reason: str = ""
    falls_back: bool = False


def one(state: TrustState) -> dict[str, int]:
    """The first node alone."""
    return {str(TrustState.TRUSTED): COUNT - 1, str(state): 1}


def first(value: object) -> Fault:
    """A lie about the first node."""
    return lies(lambda instance, honest_value: value if instance == NAMES[0] else honest_value)


IMPLAUSIBLE, STALE, FROZEN = TrustState.IMPLAUSIBLE, TrustState.STALE, TrustState.FROZEN
CANNOT = "gave values that cannot be for 24 of 24 nodes"
LIES = {
    "0 everywhere": Lie(lies(lambda *_: 0), 1, all_in(IMPLAUSIBLE), CANNOT, "exactly 0", falls_back=True),
    "percent for fractions": Lie(lies(lambda _, v: 100 * v), 1, all_in(IMPLAUSIBLE), CANNOT, "above 150 %", True),
    "negative": Lie(lies(lambda _, v: -v), 1, all_in(IMPLAUSIBLE), CANNOT, "less than nothing", falls_back=True),
    "NaN everywhere": Lie(lies(lambda *_: "NaN"), 1, all_in(IMPLAUSIBLE), CANNOT, "nan", falls_back=True),
    "infinite": Lie(lies(lambda *_: "+Inf"), 1, all_in(IMPLAUSIBLE), CANNOT, "inf", falls_back=True),
    "no numbers": Lie(lies(lambda *_: "soon"), 1, all_in(IMPLAUSIBLE), CANNOT, "'soon' is no number", True),
    "NaN for one": Lie(first("NaN"), 1, one(IMPLAUSIBLE), "", "nan"),
    "0 for one": Lie(first(0), 1, one(IMPLAUSIBLE), "", "exactly 0"),
    "a wrapped counter": Lie(first(18446744073709551591), 1, one(IMPLAUSIBLE), "", "above 150 %"),
    "twins that disagree": Lie(doubled(NAMES[0], 1.5), 1, one(IMPLAUSIBLE), "", "2 series contradict each other"),
    "one in ten absurd": Lie(
        lies(lambda instance, v: -v if instance < "n03" else v),
        1,
        {"Trusted": 21, "Implausible": 3},
        "gave values that cannot be for 3 of 24 nodes",
    ),
    "halved": Lie(lies(lambda _, v: v / 2), 1, all_in(TrustState.TRUSTED), "fell by 5"),
    "all equal": Lie(lies(lambda *_: 0.42), 1, all_in(TrustState.TRUSTED), "24 of 24 nodes showed the same"),
    "most equal": Lie(
        lies(lambda instance, v: 0.42 if instance < "n13" else v), 1, all_in(TrustState.TRUSTED), "13 of 24 nodes"
    ),
    "frozen values": Lie(Repeats(keeps_time=False), 4, all_in(FROZEN), "0 of 24 nodes", "the same values in", True),
    "old answers": Lie(Repeats(keeps_time=True), 5, all_in(STALE), "0 of 24 nodes", "old", falls_back=True),
    "a clock ahead": Lie(
        lies(lambda _, at: at + 3600, about_time=True), 1, all_in(IMPLAUSIBLE), CANNOT, "in our future", falls_back=True
    ),
    "a clock behind": Lie(
        lies(lambda _, at: at - 100, about_time=True), 5, all_in(STALE), "0 of 24", "old", falls_back=True
    ),
    "one node gone": Lie(without(NAMES[0]), 5, one(STALE), "", "newest sample is"),
    "an eighth gone": Lie(without(*NAMES[:3]), 5, {"Trusted": 21, "Stale": 3}, "only 21 of 24 nodes"),
    "most gone": Lie(without(*NAMES[:13]), 5, {"Trusted": 11, "Stale": 13}, "only 11 of 24 nodes", "", True),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_ends_in_its_state(name: str, proxy: Proxy) -> None:
    """Never in a load that steers something."""
    lie = LIES[name]
    watch = Watch(proxy)
    watch.tick(lie.ticks, lie.fault)
    assert watch.states() == lie.states
    found = watch.trust()
    assert lie.freeze in found.freeze
    assert bool(lie.freeze) == bool(found.freeze)
    assert lie.reason in "; ".join(trust.reason for trust in found.nodes)
    assert found.falls_back == lie.falls_back
    usage = watch.collector.collected.windows.over(300.0)
    assert usage is not None
    assert usage.is_valid.tolist() == [trust.is_usable for trust in found.nodes]


@pytest.mark.parametrize("name", ["0 everywhere", "halved", "all equal", "frozen values", "a clock ahead"])
def test_a_lie_is_remembered_for_one_window(name: str, proxy: Proxy) -> None:
    """An honest answer thaws nothing at once: what was said is still in the averages. After a window all is well."""
    watch = Watch(proxy)
    watch.tick(LIES[name].ticks, LIES[name].fault)
    watch.tick(1, honest)
    told = watch.trust()
    assert told.freeze or watch.states() != all_in(TrustState.TRUSTED)
    watch.tick(21)
    assert watch.trust(300.0).freeze == ""
    assert watch.states() == all_in(TrustState.TRUSTED)
    assert watch.trust(900.0).freeze or not watch.trust(900.0).nodes[0].is_usable


def test_two_sources_that_contradict_each_other_on_a_node(prometheus: str, proxy: Proxy) -> None:
    """That node is Disputed, whoever lies; swapped nodes, which no check of one source finds, too."""
    with fault_proxy(prometheus) as other:
        watch = Watch(proxy, other)
        assert watch.states() == all_in(TrustState.TRUSTED)
        watch.tick(1, lies(lambda instance, v: v + 0.3 if instance == NAMES[5] else v))
        assert watch.states() == one(TrustState.DISPUTED)
        assert "to Prometheus but" in watch.trust().nodes[5].reason
        watch.tick(1, honest)
        assert watch.trust().nodes[5].state is TrustState.DISPUTED


def test_the_second_source_stands_in_for_the_first(prometheus: str, proxy: Proxy) -> None:
    """While it is down, lies, or knows too little; and no longer."""
    with fault_proxy(prometheus) as other:
        watch = Watch(proxy, other)
        for fault in (reset, lies(lambda *_: 0), without(*NAMES[:3])):
            collected = watch.tick(2, fault)
            assert watch.states() == all_in(TrustState.TRUSTED)
            assert [health.is_used for health in collected.providers] == [False, True]
            collected = watch.tick(1, honest)
            assert [health.is_used for health in collected.providers] == [True, False]
        assert watch.trust().freeze == ""


def test_a_node_made_anew_starts_with_nothing(proxy: Proxy) -> None:
    """Prometheus goes on under the same name; what it said of the former node is not the new one's."""
    watch = Watch(proxy)
    born = watch.at - 5
    watch.nodes = (replace(node(NAMES[0]), uid="another", created_at=born), *watch.nodes[1:])
    watch.tick()
    assert watch.trust().nodes[0].state is TrustState.PREDICTED
    collected = watch.tick(3)
    usage = collected.windows.over(900.0)
    assert usage is not None
    assert usage.statistics["cpu"].count[0] <= 4
    assert usage.statistics["cpu"].count[1] >= 60
