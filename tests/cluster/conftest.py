"""Fixtures of the tests that need a real control plane: one per session, and a clean slate for each test."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster.cluster import Cluster
from tests.cluster.faults.fault_proxy import FaultProxy, fault_proxy
from tests.cluster.plane.clean_slate import CleanSlate
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.rest_client import bind, token_of
from tests.cluster.telemetry.alerting import Prometheus, watching
from tests.cluster.telemetry.runbooks import Operator
from tests.cluster.tool import Tool
from tests.paths import DEPLOY

SECONDS_PER_TEST = 300

_running = pytest.StashKey[ControlPlane]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, for runs that do not read the project's settings."""
    config.addinivalue_line("markers", "e2e: needs the real control plane of tests/cluster")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test below this folder; a time limit holds for the test alone, not for building the binaries."""
    item.add_marker(pytest.mark.e2e)
    if item.config.pluginmanager.hasplugin("timeout") and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(SECONDS_PER_TEST, func_only=True))


@pytest.fixture(scope="session")
def control_plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """The control plane of this session; where it cannot be built or started, the tests fail and say why."""
    plane = ControlPlane()
    request.config.stash[_running] = plane
    plane.start()  # a failure leaves the folder with the logs
    try:
        yield plane
    finally:
        plane.stop()


@pytest.fixture(scope="session")
def clean_slate(control_plane: ControlPlane) -> CleanSlate:
    """What the fresh cluster holds, to return to."""
    return CleanSlate(control_plane.api)


@pytest.fixture
def cluster(control_plane: ControlPlane, clean_slate: CleanSlate) -> Iterator[Cluster]:
    """A cluster with nothing in it and all components running; what the test makes goes afterwards."""
    control_plane.settle()
    clean_slate.restore()
    yield Cluster(control_plane)
    control_plane.settle()
    clean_slate.restore()


@pytest.fixture
def tool(cluster: Cluster, tmp_path: Path) -> Tool:
    """The rescheduler as a user of this cluster."""
    return Tool(cluster, tmp_path)


@pytest.fixture
def proxy(tool: Tool, tmp_path: Path) -> Iterator[FaultProxy]:
    """A way to the API server in which a test can meddle; who goes through it is the test's choice."""
    with fault_proxy(tool.kubeconfig, tmp_path) as proxy:
        yield proxy


@pytest.fixture
def proxied(tool: Tool, proxy: FaultProxy) -> FaultProxy:
    """The same, with everything that the rescheduler asks going through it."""
    tool.kubeconfig = proxy.kubeconfig
    return proxy


@pytest.fixture
def approver(cluster: Cluster) -> str:
    """The token of an account that may approve."""
    for manifest in yaml.safe_load_all((DEPLOY / "api.yaml").read_text()):
        cluster.api.apply(manifest)
    metadata = {"name": "approver", "namespace": "default"}
    cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    bind(cluster, "rescheduler-approver", "approver", "default")
    return token_of(cluster, "approver", "default")


@pytest.fixture
def prometheus(cluster: Cluster, tmp_path: Path) -> Iterator[Prometheus]:
    """Over a daemon that is not there yet."""
    with watching(cluster.control_plane, tmp_path / "watching") as found:
        yield found


@pytest.fixture
def operator(cluster: Cluster, tmp_path: Path) -> Operator:
    """Somebody who carries runbooks out."""
    return Operator(cluster, tmp_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the end of each component's log to the report of a failure."""
    report = yield
    plane = item.config.stash.get(_running, None)
    if report.failed and plane is not None:
        for name, tail in plane.log_tails().items():
            report.sections.append((f"end of the log of {name}", tail))
    return report
