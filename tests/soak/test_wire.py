"""The line between process and world does to calls what it says, and tells the truth about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.extension_points import ClusterError, EvictionAnswer, HoldRequest
from rescheduler.model.plan.plan import PodReference
from tests.soak.clock import Killed, Thread, WorldClock
from tests.soak.line.faults import APPLIES, DEADLY, PAIRS, SITES, Fault, Faults
from tests.soak.line.target import ProcessTarget
from tests.soak.line.views import Past
from tests.soak.line.wire import Wire
from tests.soak.own_records import ProcessLedger
from tests.soak.scenes import one_by_one
from tests.soak.trace import Answer, Event, Trace, Violation
from tests.soak.world.ledger_object import LedgerObject
from tests.soak.world.scenery import BEGAN, Scenery
from tests.soak.world.truth import Truth
from tests.soak.world.world import World


class _Each(Faults):
    """The same fault on every call of one site."""

    def __init__(self, site: str, fault: Fault) -> None:
        super().__init__(Random(0), lambda: 0.0, 0.0, 0.0)
        self._site, self._fault = site, fault

    def draw(self, site: str, where: str = "") -> Fault | None:
        """That one."""
        return self._fault if site == self._site else None


class _Listener:
    """Hears all answers."""

    interests: tuple[type, ...] = (Answer,)

    def __init__(self) -> None:
        self.guards: dict[str, int] = {}
        self.heard: list[Answer] = []

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """One of them."""
        assert isinstance(event, Answer)
        self.heard.append(event)
        return ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """Nothing."""
        return ()


class _Stage:
    """A small world with one process on it."""

    def __init__(self, site: str = "", fault: Fault | None = None) -> None:
        self.clock = WorldClock(BEGAN)
        self.world = World(Scenery(one_by_one(), [], {}), self.clock, Random(1), 1)
        self.ledger = LedgerObject(self.clock)
        trace = Trace(Truth(self.world.store, self.ledger, None))
        faults = _Each(site, fault or Fault(""))
        self.wire = Wire("p0", self.world, Past(self.world), faults, Random(2), trace)
        self.pod = next(pod for pod in self.world.store.pods.values() if pod.labels.get("app") == "web")
        self.told: list[object] = []

    def run(self, body: Callable[[ProcessTarget, ProcessLedger], object], seconds: float = 300.0) -> object:
        """What ``body`` returns or raises, called in a process."""

        def live() -> None:
            try:
                self.told.append(body(ProcessTarget(self.wire), ProcessLedger(self.wire, self.ledger)))
            except ClusterError as error:
                self.told.append(error)

        Thread(self.clock, live, lambda _: None)
        self.clock.sleep(seconds)
        return self.told[-1] if self.told else None

    def listen(self) -> list[Answer]:
        """Answers that are told from now on."""
        listener = _Listener()
        self.wire.trace = Trace(self.wire.trace.truth, [listener])
        return listener.heard

    def evict(self, seconds: float = 300.0) -> object:
        """The answer to an eviction of a replica."""
        reference = PodReference(self.pod.namespace, self.pod.name, self.pod.uid)
        now = self.world.store.pods[self.pod.key].resource_version
        return self.run(lambda target, _: target.evict(reference, now, dry_run=False), seconds)

    @property
    def is_evicted(self) -> bool:
        """Whether the replica has left or leaves."""
        pod = self.world.store.same(self.pod)
        return pod is None or pod.is_terminating


@pytest.mark.parametrize(
    ("kind", "answer", "is_evicted"),
    [
        ("", "Accepted", True),
        ("unreachable", "TooManyRequests", False),
        ("429 of overload", "TooManyRequests", False),
        ("5xx before", "Failed", False),
        ("5xx after", "Failed", True),
        ("reset before", "Failed", False),
        ("reset after", "Failed", True),
        ("timeout after", "Failed", True),
        ("garbled", "Failed", True),
    ],
)
def test_answer_and_effect_of_an_eviction(kind: str, answer: str, is_evicted: bool) -> None:
    """Each fault answers as a server or network would, whether or not the eviction took place."""
    stage = _Stage("evict", Fault(kind) if kind else None)
    found = stage.evict()
    assert isinstance(found, EvictionAnswer)
    assert (found.kind, stage.is_evicted) == (answer, is_evicted)


def test_late_effect() -> None:
    """A request whose answer timed out takes effect when its time has come, not before."""
    stage = _Stage("evict", Fault("timeout, effect later", 50.0))
    assert stage.evict(40.0).kind == "Failed"  # type: ignore[union-attr]
    assert not stage.is_evicted
    stage.clock.sleep(20.0)
    assert stage.is_evicted


@pytest.mark.parametrize(("kind", "is_evicted"), [("kill before", False), ("kill in", True), ("kill after", True)])
def test_killed_process_does_nothing_more(kind: str, is_evicted: bool) -> None:
    """Whatever a dead process still tries, in its own clean-up too, has no effect on the world."""
    stage = _Stage("evict", Fault(kind))
    cleaned: list[str] = []

    def body(target: ProcessTarget, ledger: ProcessLedger) -> None:
        try:
            reference = PodReference(stage.pod.namespace, stage.pod.name, stage.pod.uid)
            target.evict(reference, stage.pod.resource_version, dry_run=False)
        finally:
            with pytest.raises(Killed):
                ledger.write(stage.ledger.ledger, ledger.read().version)
            cleaned.append("tried")

    stage.run(body)
    assert cleaned == ["tried"]
    assert stage.is_evicted is is_evicted
    assert stage.ledger.writes == 0


def test_lost_answer_to_a_ledger_write() -> None:
    """A write whose answer is lost has taken effect all the same, and raises as one of unknown outcome."""
    stage = _Stage("ledger write", Fault("5xx after"))
    found = stage.run(lambda _, ledger: ledger.write(stage.ledger.ledger, ""))
    assert isinstance(found, OutcomeUnknownError)
    assert stage.ledger.writes == 1


def test_conflict_of_a_ledger_write() -> None:
    """A conflict changes nothing."""
    stage = _Stage("ledger write", Fault("conflict"))
    assert stage.run(lambda _, ledger: ledger.write(stage.ledger.ledger, "")) is None
    assert stage.ledger.writes == 0


def test_an_expired_list_is_told_as_answered() -> None:
    """Whoever listens hears that the call failed, and when."""
    stage = _Stage("read", Fault("expired list"))
    heard = stage.listen()
    assert isinstance(stage.run(lambda target, _: target.read()), ClusterError)
    (one,) = heard
    assert (one.request.resource, one.request.answer, one.shown) == ("cluster", "ClusterError", None)
    assert one.request.answered_at == one.t > one.request.t


def test_what_the_server_refuses_is_told_as_answered() -> None:
    """A placeholder under a name in use: nothing takes effect, and whoever listens hears that it failed."""
    stage = _Stage()
    heard = stage.listen()
    request = HoldRequest("hold-1", "n0", (), "", "default-scheduler", 60, "plan")

    def twice(target: ProcessTarget, _: ProcessLedger) -> None:
        target.hold([request])
        target.hold([request])

    assert isinstance(stage.run(twice, 5.0), ClusterError)
    assert [(one.request.answer, one.request.effect) for one in heard] == [("ok", "now"), ("ClusterError", "never")]


def test_stale_read_shows_an_earlier_version() -> None:
    """A stale read shows the pod as it was, and says in the trace when that was true."""
    stage = _Stage("get pod", Fault("stale"))
    stage.clock.sleep(700.0)
    stage.world.delete_pod(stage.pod.namespace, stage.pod.name)
    stage.clock.sleep(10.0)
    found = stage.run(lambda target, _: target.read_pod(stage.pod.namespace, stage.pod.name), 5.0)
    assert found == stage.pod or getattr(found, "uid", "") == stage.pod.uid


def _sites() -> Iterator[tuple[str, str]]:
    yield from PAIRS


def test_every_site_can_be_killed_at() -> None:
    """The table of call sites and faults has every kill at every site, and no site that is not known."""
    assert {site for site, _ in _sites()} == set(SITES)
    for kind in DEADLY:
        assert set(APPLIES[kind]) == set(SITES)
