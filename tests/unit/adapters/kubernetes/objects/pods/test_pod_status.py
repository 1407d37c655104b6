"""What a pod holds while it is resized in place."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.adapters.api_objects import container, pod_object, read_pod


def resized(
    actual: str | None, allocated: str | None = None, *, reason: str | None = None, cpu: str = "1", **spec: Any
) -> Any:
    """A pod whose kubelet reports this much cpu."""
    pod = pod_object(containers=[container(cpu=cpu)], **spec)
    report: dict[str, Any] = {"name": "main"}
    if actual:
        report["resources"] = {"requests": {"cpu": actual, "memory": "1Gi"}}
    if allocated:
        report["allocatedResources"] = {"cpu": allocated, "memory": "1Gi"}
    pod["status"]["containerStatuses"] = [report]
    if reason:
        pod["status"]["conditions"].append({"type": "PodResizePending", "status": "True", "reason": reason})
    return read_pod(pod)


@pytest.mark.parametrize(
    ("actual", "allocated", "reason", "cpu"),
    [
        (None, None, None, None),
        ("1", "1", None, None),
        ("3", None, None, 3000),
        ("2", "4", None, 4000),
        ("500m", "500m", "Deferred", None),
        ("500m", "500m", "Infeasible", 500),
        (None, "4", None, None),  # without a report there is nothing to compare
    ],
)
def test_the_largest_counts(actual: str | None, allocated: str | None, reason: str | None, cpu: int | None) -> None:
    """The largest of specification, report and allocation; the specification drops out once it is infeasible."""
    held = resized(actual, allocated, reason=reason).held
    assert (dict(held)["cpu"] if held else None) == cpu


def test_overhead_and_init_containers_still_count() -> None:
    """Only what the kubelet reports of running containers is exchanged."""
    pod = resized("3", overhead={"cpu": "100m"}, initContainers=[container("i", cpu="5")])
    assert dict(pod.held or pod.spec.requests)["cpu"] == 5100
    assert pod.held is None


def test_the_old_way_to_say_infeasible() -> None:
    """Kubernetes before 1.33 said it in status.resize."""
    pod = pod_object()
    pod["status"] |= {"resize": "Infeasible", "containerStatuses": [
        {"name": "main", "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}}]}  # fmt: skip
    assert dict(read_pod(pod).held)["cpu"] == 250
