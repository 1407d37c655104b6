"""Containers one by one, as predictions of use need them."""

from __future__ import annotations

from rescheduler.model.objects.pod import APP, INIT, SIDECAR, ContainerResources
from tests.unit.adapters.api_objects import list_of, node_object, pod_object, read, read_pod

GIB = 2**30


def written(name: str = "c", **resources: dict[str, str]) -> dict[str, object]:
    """A container with these resources."""
    return {"name": name, "image": "x", "resources": resources}


def test_containers_stand_in_order_with_their_kinds_and_zeros() -> None:
    """Init containers and sidecars first; a zero that is written stays, what is not written is absent."""
    spec = read_pod(
        pod_object(
            initContainers=[
                written(requests={"cpu": "1"}),
                {**written(limits={"cpu": "2"}), "restartPolicy": "Always"},
            ],
            containers=[written(requests={"cpu": "0", "memory": "1Gi"}, limits={"cpu": "1500m"}), written()],
            overhead={"cpu": "250m"},
        )
    ).spec
    assert spec.containers == (
        ContainerResources((("cpu", 1000),), (), INIT),
        ContainerResources((("cpu", 2000),), (("cpu", 2000),), SIDECAR),
        ContainerResources((("cpu", 0), ("memory", GIB)), (("cpu", 1500),), APP),
        ContainerResources((), (), APP),
    )
    assert spec.overhead == (("cpu", 250),)


def test_limits_tell_specifications_apart_and_replicas_still_share_one() -> None:
    """Equal requests with other limits are another specification; equal ones are the very same object."""
    free, limited = written(requests={"cpu": "1"}), written(requests={"cpu": "1"}, limits={"cpu": "2"})
    made = (
        pod_object("a", containers=[free]),
        pod_object("b", containers=[limited]),
        pod_object("c", containers=[free]),
    )
    first, second, third = read(list_of(node_object(), *made)).pods
    assert first.spec is third.spec
    assert first.spec != second.spec
    assert first.spec.requests == second.spec.requests
    assert first.spec.containers[0] is third.spec.containers[0]
