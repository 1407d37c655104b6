"""Use of nodes kept from cycle to cycle of a daemon, smoothed as descheduler does while it runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rescheduler.adapters.metrics.metrics_server import use_of_nodes
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.descheduling import ChosenVictims, round_plan
from rescheduler.composition.load.measured_use import reading_measured_use
from rescheduler.composition.load.smoothed_use import SmoothedUse, is_smoothed
from rescheduler.descheduler.smoothing import NodeUse
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.extension_points import MetricsError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.usage.measured_use import MeasuredUse
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.clocks import FakeClock
from tests.loopback_server import loopback_server
from tests.unit.adapters.metrics.kubernetes_worlds import connection_to
from tests.unit.composition.load.test_measured_use import Servers, crowd, kubernetes_metrics, prometheus, tried


class Api:
    """A metrics API that says what a test puts there; None: it fails."""

    def __init__(self, cpu: int | None) -> None:
        self.cpu = cpu

    def __call__(self) -> NodeUse:
        """Of node a."""
        if self.cpu is None:
            raise MetricsError("metrics.k8s.io: 503")
        return {"a": {"cpu": self.cpu, "memory": 1}}


def kept_of_a(smoothed: SmoothedUse) -> int | None:
    """Millicores of node a as a cycle would see them, where its own reading has none."""
    return smoothed.over(crowd()).measured.nodes.get("a", {}).get("cpu")


def test_cycles_go_by_what_was_sampled_between_them(tmp_path: Path) -> None:
    """A node that was busy for long and fell idle a moment ago still gives up pods; after a minute it does not.

    And one that was idle gives up none for its first busy moment, though its pods' own use is that of the moment.
    """

    servers, written = Servers(), kubernetes_metrics()
    with loopback_server(servers) as server:
        connection = connection_to(server.address, tmp_path)
        where = ClusterOptions(kubeconfig=str(tmp_path / "kubeconfig"))
        read = reading_measured_use(crowd, written, where, print)
        smoothed = SmoothedUse(lambda: use_of_nodes(connection), FakeClock())
        chosen = ChosenVictims(written, Policy(), EVERYTHING, DEFAULTS)

        def cycle() -> int:
            return tried(round_plan(smoothed.over(read()), chosen, EMPTY_LEDGER, {}, None))

        smoothed.take_sample()
        servers.busy = 0.4
        smoothed.take_sample()
        assert cycle() > 0
        for _ in range(12):
            smoothed.take_sample()
        assert cycle() == 0
        servers.busy = 3.2
        smoothed.take_sample()
        assert cycle() == 0
        for _ in range(12):
            smoothed.take_sample()
        assert cycle() > 0


def test_a_sample_that_fails_changes_nothing() -> None:
    """What was kept stays, and the next one counts as any other."""
    api = Api(1000)
    smoothed = SmoothedUse(api, FakeClock())
    smoothed.take_sample()
    api.cpu = None
    smoothed.take_sample()
    assert kept_of_a(smoothed) == 1000
    api.cpu = 2000
    smoothed.take_sample()
    assert kept_of_a(smoothed) == 1100


def test_a_cycle_that_the_metrics_api_told_nothing_is_given_nothing() -> None:
    """The plugin ends with the reason, not with use of who knows when."""
    smoothed = SmoothedUse(Api(1000), FakeClock())
    smoothed.take_sample()
    failed = replace(crowd(), measured=MeasuredUse(problem="503"))
    assert smoothed.over(failed) is failed


def test_a_node_that_was_not_sampled_yet_has_the_use_of_the_reading() -> None:
    """That is what its first sample would be."""
    smoothed = SmoothedUse(Api(1000), FakeClock())
    seen = replace(crowd(), measured=MeasuredUse(nodes={"a": {"cpu": 1}, "b": {"cpu": 2}}))
    assert smoothed.over(seen).measured.nodes == seen.measured.nodes
    smoothed.take_sample()
    assert smoothed.over(seen).measured.nodes == {"a": {"cpu": 1000, "memory": 1}, "b": {"cpu": 2}}


def test_it_samples_every_five_seconds_whatever_a_sample_takes() -> None:
    """From its start, in a thread of its own; the time of the request is no part of the wait."""
    clock, api, waits = FakeClock(), Api(1000), list[float]()

    def sample() -> NodeUse:
        clock.sleep(2.0 if len(waits) == 1 else 0.0)
        return api()

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == 3

    smoothed = SmoothedUse(sample, clock, wait=wait)
    smoothed.start()
    smoothed.stop()
    assert waits == [5.0, 3.0, 5.0]
    assert kept_of_a(smoothed) == 1000


def test_another_policy_goes_on_with_what_was_kept() -> None:
    """A reload does not forget: the next sample counts for a tenth."""
    api = Api(1000)
    first = SmoothedUse(api, FakeClock())
    first.take_sample()
    api.cpu = 2000
    second = SmoothedUse(api, FakeClock(), before=first)
    second.take_sample()
    assert (kept_of_a(first), kept_of_a(second)) == (1000, 1100)


def test_only_kubernetes_metrics_are_smoothed() -> None:
    """Prometheus is asked anew in each cycle, there and here."""
    assert is_smoothed(kubernetes_metrics())
    assert not is_smoothed(prometheus("http://127.0.0.1:9090"))
