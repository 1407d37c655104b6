"""MetricsServerProvider against a real metrics-server that scrapes the use which kwok's nodes report."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.registration import provider_of
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.cluster import Cluster as Snapshot
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import MetricsSample, PodKey
from rescheduler.policy.fields.usage import Provider
from tests.cluster.cluster import Cluster
from tests.cluster.waiting import wait_until


def test_use_of_nodes_and_pods(loaded: Cluster) -> None:
    """Fractions of capacity, millicores, bytes; the sample's own time; a node that is not scraped is unknown."""
    connection = connect(str(loaded.control_plane.kubeconfig), None, read_only=True)
    provider = provider_of(Provider(name="MetricsServer"), ProviderContext(connection=lambda: connection))
    snapshot: Snapshot = LiveReader(connection).read()
    nodes = sorted(snapshot.nodes, key=lambda one: one.name)
    clock, samples = SystemClock(), list[MetricsSample]()

    def is_scraped() -> bool:
        try:
            samples[:] = [provider.sample(nodes, now=clock.now(), with_pods=True)]
        except MetricsError:  # not registered yet, or not scraped twice
            return False
        (sample,) = samples
        return bool(np.isfinite(sample.nodes.values[CPU][0, :2]).all()) and len(sample.pods.pods) == 2  # type: ignore[union-attr]

    wait_until(is_scraped, lambda: f"two scrapes; the last sample was {samples}", timeout_seconds=120)
    (sample,) = samples
    assert sample.nodes.values[CPU][0, :2] == pytest.approx([0.25, 0.125], rel=0.05)
    assert sample.nodes.values[MEMORY][0, :2] == pytest.approx([0.25, 0.125], rel=0.01)
    assert all(np.isnan(values[0, 2]) for values in sample.nodes.values.values())
    assert clock.now() - 60 < sample.nodes.measured_at[0, 0] <= clock.now()
    assert sample.pods is not None
    assert sample.pods.pods == (PodKey("default", "busy-n1"), PodKey("default", "busy-n2"))
    assert sample.pods.values[CPU] == pytest.approx([1000.0, 500.0], rel=0.05)
    assert sample.pods.values[MEMORY] == pytest.approx([4 * 2**30, 2 * 2**30], rel=0.01)
    assert sample.unusable == {}
    assert_addresses(nodes[0].addresses)
    assert_nothing_after_the_end(provider)


def assert_addresses(addresses: tuple[tuple[str, str], ...]) -> None:
    """The snapshot has the addresses by which other sources call a node."""
    assert ("InternalIP", "127.0.0.1") in addresses
    assert ("Hostname", "n1") in addresses


def assert_nothing_after_the_end(provider: MetricsProvider) -> None:
    """The API keeps no history."""
    assert provider.history([], start=0, end=1, step_seconds=1) is None
