"""Leader election on a real API server: a form that it takes, and who leads after a stop, a kill and a pause."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError
from rescheduler.adapters.kubernetes.leases import KubernetesLease
from rescheduler.model.daemon.lease import LeaseRecord
from tests.cluster.cluster import Cluster
from tests.cluster.daemon.elector import NAMESPACE, rules_for
from tests.cluster.tool import Tool

LEASE_SECONDS = 6.0
RULES = rules_for(LEASE_SECONDS, "any")
LEASES = "leases"


class Said(NamedTuple):
    """What an elector has told, and when, on the clock of all processes."""

    at: float
    who: str
    what: str


class Elector:
    """A process that takes part in an election."""

    def __init__(self, kubeconfig: Path, name: str) -> None:
        self.said: queue.Queue[Said] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.daemon.elector", str(kubeconfig), name, str(LEASE_SECONDS)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def wait(self, what: str, seconds: float = 60.0) -> Said:
        """The next time that it says this."""
        until = time.monotonic() + seconds
        while True:
            said = self.said.get(timeout=max(until - time.monotonic(), 0.01))
            if said.what == what:
                return said

    def end(self) -> None:
        """For good."""
        self.process.kill()
        self.process.wait()
        self._listener.join()

    def has_led(self) -> bool:
        """Whether it has said so since anybody looked."""
        said = []
        while not self.said.empty():
            said.append(self.said.get().what)
        return "leads" in said

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                at, who, what = line.split()
                self.said.put(Said(float(at), who, what))


@contextmanager
def electors(tool: Tool, name: str) -> Iterator[tuple[Elector, Elector]]:
    """Two of them, the first of which leads."""
    first = Elector(tool.kubeconfig, name)
    made = [first]
    try:
        first.wait("leads")
        made.append(Elector(tool.kubeconfig, name))
        made[1].wait("follows")
        time.sleep(RULES.retry_period)  # it has seen at least one renewal
        yield made[0], made[1]
    finally:
        for elector in made:
            elector.end()


@pytest.fixture
def system(cluster: Cluster) -> str:
    """The namespace of the lease, as deploy/ makes it."""
    if not any(item["metadata"]["name"] == NAMESPACE for item in cluster.api.list("namespaces")):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    return NAMESPACE


def lease(tool: Tool, name: str, namespace: str = NAMESPACE) -> KubernetesLease:
    """A lease as the tool's user writes it."""
    return KubernetesLease(connect(str(tool.kubeconfig), read_only=False), namespace, name, timeout_seconds=10.0)


def stored(cluster: Cluster, name: str) -> dict[str, Any]:
    """What the server holds."""
    found: dict[str, Any] = cluster.api.get(LEASES, name, NAMESPACE)
    return found


def test_a_record_goes_there_and_back(cluster: Cluster, tool: Tool, system: str) -> None:
    """Made, read, replaced and given up, with times of all kinds of decimals."""
    del system
    store = lease(tool, "round-trip")
    assert store.read() is None
    record = LeaseRecord("me", 15, 1_777_629_600.0, 1_777_629_600.5, 0)
    made = store.create(record)
    assert made is not None
    assert made.record == record
    assert lease(tool, "round-trip").create(record) is None, "it is there"
    second = record._replace(renewed_at=1_777_629_601.000001, transitions=1)
    replaced = store.update(second, made.version)
    assert replaced is not None
    assert replaced.record.renewed_at == pytest.approx(1_777_629_601.000001, abs=1e-6)
    assert store.update(record, made.version) is None, "the version before"
    assert store.read() == replaced
    released = store.update(LeaseRecord("", 1, 1_777_629_602.0, 1_777_629_602.0, 1), replaced.version)
    assert released is not None
    assert released.record.is_released
    cluster.api.delete(LEASES, "round-trip", NAMESPACE)
    assert store.update(record, released.version) is None, "gone"


def test_labels_of_others_stay(cluster: Cluster, tool: Tool, system: str) -> None:
    """And the version that they made is the one that counts."""
    del system
    store = lease(tool, "labelled")
    made = store.create(LeaseRecord("me", 15, 0.0, 0.0))
    assert made is not None
    cluster.api.patch(LEASES, "labelled", {"metadata": {"labels": {"team": "a"}}}, NAMESPACE)
    assert store.update(made.record, made.version) is None
    found = store.read()
    assert found is not None
    assert found.record == made.record
    assert store.update(found.record._replace(renewed_at=1.0), found.version) is not None
    assert stored(cluster, "labelled")["metadata"]["labels"]["team"] == "a"


def test_a_role_that_does_not_allow_it_is_named(cluster: Cluster, tool: Tool, system: str) -> None:
    """A user without rights is told which lease, which verb, and what grants it."""
    del system
    tool.kubeconfig = cluster.control_plane.user_kubeconfig("nobody-in-particular", ())
    with pytest.raises(ForbiddenError, match="forbids us to get lease rescheduler-system/any"):
        lease(tool, "any").read()


def test_a_namespace_that_is_missing_is_made(cluster: Cluster, tool: Tool) -> None:
    """For a first try by an administrator."""
    store = lease(tool, "first", "not-there-yet")
    assert store.read() is None
    assert store.create(LeaseRecord("me", 15, 0.0, 0.0)) is not None
    cluster.api.delete("namespaces", "not-there-yet")


def test_after_a_kill_the_other_takes_over_within_the_lease_and_two_seconds(
    cluster: Cluster, tool: Tool, system: str
) -> None:
    """And no earlier than the dead leader's own deadline; the lease counts one more transition."""
    del system
    with electors(tool, "kill") as (first, second):
        before = stored(cluster, "kill")["spec"]["leaseTransitions"]
        killed_at = time.monotonic()
        first.process.kill()
        took = second.wait("leads").at - killed_at
        assert LEASE_SECONDS - RULES.retry_period - 1 <= took <= LEASE_SECONDS + 2
        spec = stored(cluster, "kill")["spec"]
        assert spec["leaseTransitions"] == before + 1
        assert spec["leaseDurationSeconds"] == LEASE_SECONDS


def test_after_a_stop_the_other_takes_over_at_once(cluster: Cluster, tool: Tool, system: str) -> None:
    """Within its retry period and a second, and only after the leader leads no more."""
    del system
    with electors(tool, "stop") as (first, second):
        stopped_at = time.monotonic()
        first.process.send_signal(signal.SIGTERM)
        last = first.wait("follows")
        taken = second.wait("leads")
        assert taken.at >= last.at - 0.5
        assert taken.at - stopped_at <= RULES.retry_period + 1.5
        assert first.process.wait(30) == 0
        assert stored(cluster, "stop")["spec"]["holderIdentity"] == taken.who


def test_a_leader_that_was_paused_knows_that_it_is_none(cluster: Cluster, tool: Tool, system: str) -> None:
    """Stopped for longer than the lease and woken again: it follows, and the other one stays in the lead."""
    del system
    with electors(tool, "pause") as (first, second):
        first.process.send_signal(signal.SIGSTOP)
        taken = second.wait("leads")
        first.process.send_signal(signal.SIGCONT)
        assert first.wait("follows").at >= taken.at
        time.sleep(RULES.lease_duration)
        assert second.said.empty()
        assert not first.has_led()
        assert stored(cluster, "pause")["spec"]["holderIdentity"] == taken.who


def test_a_lease_that_somebody_deletes_is_there_again_in_the_same_hands(
    cluster: Cluster, tool: Tool, system: str
) -> None:
    """The leader's next renewal makes it; the other does not take the chance."""
    del system
    with electors(tool, "delete") as (first, second):
        holder = stored(cluster, "delete")["spec"]["holderIdentity"]
        cluster.api.delete(LEASES, "delete", NAMESPACE)
        time.sleep(RULES.lease_duration + RULES.retry_period)
        assert stored(cluster, "delete")["spec"]["holderIdentity"] == holder
        assert first.said.empty()
        assert not second.has_led()
