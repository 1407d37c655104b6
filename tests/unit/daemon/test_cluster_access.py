"""What is observed beside snapshots freezes the daemon, and lets it go on once it has been calm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.client.request_names import request_name
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord, SentRequest
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.daemon.cluster_access import ClusterAccess, signals_of
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.daemon.rounds.scheduler_watch import SchedulerWatch
from rescheduler.daemon.rounds.vigilance import Vigilance
from rescheduler.disruption.gate.health import NO_SIGNALS, Signals
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.daemon.safety import Health
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.adapters.fake_api_server import answer, serving, status
from tests.unit.daemon.rounds.test_rounds import rounds, surroundings
from tests.unit.execution.worlds import World, fragmented

HEALTHY = SentRequest(request_name("GET", "/api/v1/pods"), 200, 0.1)


class Scene:
    """A daemon's eyes: a record of requests, a mirror of some age, and a snapshot; time passes for all of them."""

    def __init__(self, *pods: object) -> None:
        self.clock = SimulatedClock(NOW)
        self.record = RequestRecord(self.clock)
        self.mirror_age: float | None = 1.0
        self.pods = pods
        self.watch = SchedulerWatch(("default-scheduler",))
        self.vigilance = Vigilance(Health(), self.clock, self.signals)

    def signals(self, seen: Cluster) -> Signals:
        """As wired in the daemon."""
        return signals_of(self.record, lambda: self.mirror_age, self.watch, seen)

    def send(self, request: SentRequest, count: int = 20) -> None:
        """So many requests in this second."""
        for _ in range(count):
            self.record.note(request)

    def told(self) -> list[str]:
        """What speaks against acting now."""
        seen = replace(cluster(node("n0"), *self.pods), taken_at=self.clock.now())  # type: ignore[arg-type]
        self.vigilance.look(seen, EMPTY_LEDGER)
        return [str(finding) for finding in self.vigilance.findings(seen, EMPTY_LEDGER)]

    def is_over_once_calm(self) -> bool:
        """Whether it waits for calm until ten minutes have passed, and not longer."""
        waits = all("calm" in text for text in self.told()) and bool(self.told())
        self.clock.sleep(601)
        return waits and self.told() == []


def test_nothing_observed_is_nothing_against() -> None:
    """Too few requests, no mirror, no pending pod: not observed, which is not the same as zero."""
    scene = Scene()
    scene.mirror_age = None
    scene.send(HEALTHY, 3)
    assert scene.signals(cluster()) == NO_SIGNALS
    assert scene.told() == []


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (HEALTHY._replace(status=503), "apiErrors"),
        (HEALTHY._replace(status=None, failure="ConnectTimeoutError"), "apiErrors"),
        (HEALTHY._replace(seconds=2.5), "apiLatency"),
        (HEALTHY._replace(server_time=NOW + 100.0), "clockOffset"),
    ],
)
def test_bad_requests_freeze_it_for_as_long_as_they_are_seen(bad: SentRequest, field: str) -> None:
    """And then until it has been calm for ten minutes."""
    scene = Scene()
    scene.send(HEALTHY)
    assert scene.told() == []
    scene.send(bad)
    assert [text for text in scene.told() if f"health.{field}" in text]
    scene.clock.sleep(61)
    scene.send(HEALTHY._replace(server_time=scene.clock.now()))
    assert scene.is_over_once_calm()


def test_a_mirror_that_hears_nothing_freezes_it() -> None:
    """Until it hears again, and calm has passed."""
    scene = Scene()
    scene.mirror_age = 61.0
    assert "health.watchAge" in scene.told()[0]
    scene.mirror_age = 0.5
    assert scene.is_over_once_calm()


def test_a_silent_scheduler_freezes_it() -> None:
    """A pod that is not tried for more than a minute; once it has been tried, calm is waited for."""
    scene = Scene(pod("web-0", created_at=NOW))
    assert scene.told() == []
    scene.clock.sleep(61)
    assert "health.schedulerSilent" in scene.told()[0]
    scene.pods = (pod("web-0", created_at=NOW, unscheduled="Unschedulable", unscheduled_at=NOW + 61),)
    assert scene.is_over_once_calm()


def test_a_frozen_daemon_evicts_nothing_and_goes_on_by_itself() -> None:
    """A whole round: with an API server that fails nothing moves, and ten minutes after it is well the plan runs."""
    world = World(fragmented())
    record = RequestRecord(world.clock)
    watch = SchedulerWatch(())
    around = surroundings(world, signals=lambda seen: signals_of(record, lambda: None, watch, seen))
    some: RoundRunner = rounds(world, around)
    for code in (200,) * 18 + (500,) * 2:
        record.note(HEALTHY._replace(status=code))
    assert "10% of the requests to the API server failed" in some.run_once().reason
    world.clock.sleep(120)
    assert "calm" in some.run_once().reason
    assert world.evicted == []
    world.clock.sleep(601)
    assert some.run_once().reason == ""
    assert world.evicted


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ({"major": "1", "minor": "36", "gitVersion": "v1.36.3"}, []),
        (
            {"major": "1", "minor": "34", "gitVersion": "v1.34.4"},
            ["on Kubernetes 1.36", "Guide goes on as Hold"],
        ),
        (None, []),
    ],
)
def test_what_the_server_lacks_is_said_in_sentences(
    version: dict[str, str] | None, said: list[str], tmp_path: Path
) -> None:
    """With what to do; a server that does not answer is no reason not to start."""
    with serving(lambda _: status(503, "starting") if version is None else answer(version)) as server:
        where = ClusterOptions(kubeconfig=server.kubeconfig(tmp_path))
        access = ClusterAccess(where, SimulatedClock(NOW), lambda _: None, stirred=lambda: None, fence=lambda: None)
        words = access.server_lacks(Policy())
    assert len(words) == bool(said)
    assert all(text in words[0] for text in said)
