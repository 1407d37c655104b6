"""The manifest for Dask's operator: what the operator makes of it is what Kubernetes takes, and finds each other.

That Dask takes its commands is shown by tests/engines, whose processes are started by them.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes_schemas import check_by_schema
from tests.unit.docs.dask_manifest import dask_container, dask_manifest

VERSION = "1.36"


def labels(component: str) -> dict[str, str]:
    """Those that the operator gives to the pods of a cluster."""
    return {"dask.org/cluster-name": dask_manifest()["metadata"]["name"], "dask.org/component": component}


@pytest.mark.parametrize("component", ["worker", "scheduler"])
def test_pods_are_such_as_kubernetes_takes(component: str) -> None:
    """No field of theirs is misspelt: the operator copies them into Deployments."""
    template = {"metadata": {"labels": labels(component)}, "spec": dask_manifest()["spec"][component]["spec"]}
    spec = {"selector": {"matchLabels": labels(component)}, "template": template}
    check_by_schema({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec}, VERSION)


def test_the_service_leads_to_the_scheduler() -> None:
    """By its labels and the names of its ports; those two are asked for by the operator."""
    service: dict[str, Any] = dask_manifest()["spec"]["scheduler"]["service"]
    check_by_schema({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": service}, VERSION)
    assert service["selector"] == labels("scheduler")
    ports = {port["name"]: port["containerPort"] for port in dask_container("scheduler")["ports"]}
    assert {port["targetPort"]: port["port"] for port in service["ports"]} == ports
    assert ports == {"tcp-comm": 8786, "http-dashboard": 8787}


def test_the_command_is_not_given_to_our_entry_point() -> None:
    """``args`` alone would ask ``rescheduler`` to be a worker."""
    assert [dask_container(one)["command"][:2] for one in ("worker", "scheduler")] == [
        ["dask", "worker"], ["dask", "scheduler"],
    ]  # fmt: skip
    assert not any("args" in dask_container(one) for one in ("worker", "scheduler"))
