"""Random containers: requests, init containers, sidecars, pod-level resources, host ports, images."""

from __future__ import annotations

from benchmarks.fidelity.draw import Draw, Manifest

CPU = ("0", "50m", "100m", "250m", "0.5", "1", "1500m", "2")
MEMORY = ("0", "64Mi", "128M", "512Mi", "1Gi", "1500Mi", "2G")
GPU, FPGA = "example.com/gpu", "devices.example.com/fpga"
IMAGES = ("registry.example.com/a:1", "registry.example.com/b", "c:2", "d", "registry.example.com:5000/e")


def resources(draw: Draw) -> Manifest:
    """Requests of one container, some left out; devices need equal limits."""
    requests: dict[str, str] = {}
    if draw.chance(75):
        requests["cpu"] = draw.one(CPU)
    if draw.chance(75):
        requests["memory"] = draw.one(MEMORY)
    if draw.chance(10):
        requests["ephemeral-storage"] = draw.one(("1Gi", "5Gi"))
    devices = {name: draw.one("12") for name, percent in ((GPU, 25), (FPGA, 10)) if draw.chance(percent)}
    found: Manifest = {"requests": {**requests, **devices}} if requests or devices else {}
    if devices:
        found["limits"] = devices
    elif draw.chance(10):
        found["limits"] = {"cpu": "4", "memory": "8Gi"}
    return found


def container(draw: Draw, name: str) -> Manifest:
    """One container."""
    return {"name": name, "image": draw.one(IMAGES), "resources": resources(draw)}


def containers(draw: Draw) -> Manifest:
    """All containers of a pod: most have one, some have more, init containers or sidecars."""
    found: Manifest = {"containers": [container(draw, f"main{i}") for i in range(draw.one((1, 1, 1, 2, 3)))]}
    if draw.chance(25):
        found["initContainers"] = [init_container(draw, f"init{i}") for i in range(draw.number(1, 3))]
    ports = host_ports(draw)
    if ports:
        found["containers"][0]["ports"] = ports
    if draw.chance(8):
        for item in (*found["containers"], *found.get("initContainers", ())):
            item["resources"] = {}
        found["resources"] = {"requests": {"cpu": draw.one(CPU[1:]), "memory": draw.one(MEMORY[1:])}}
    if draw.chance(8):
        found["runtimeClassName"] = RUNTIME_CLASS["metadata"]["name"]
    return found


def init_container(draw: Draw, name: str) -> Manifest:
    """An init container, or a sidecar."""
    found = container(draw, name)
    if draw.chance(50):
        found["restartPolicy"] = "Always"
    return found


def resized_status(draw: Draw, pod: Manifest) -> Manifest:
    """The status of a pod in the middle of a resize: what its containers hold differs from what they ask for."""
    statuses = []
    for item in pod["spec"]["containers"]:
        allocated = {"cpu": draw.one(CPU), "memory": draw.one(MEMORY)}
        actual = {"cpu": draw.one(CPU), "memory": draw.one(MEMORY)}
        told = {"allocatedResources": allocated, "resources": {"requests": actual}} if draw.chance(80) else {}
        statuses.append({
            "name": item["name"], "image": item["image"], "imageID": "", "ready": True, "restartCount": 0, **told,
        })  # fmt: skip
    found: Manifest = {"containerStatuses": statuses}
    if draw.chance(40):
        reason = draw.one(("Infeasible", "Deferred"))
        found["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return found


def host_ports(draw: Draw) -> list[Manifest]:
    """Host ports of one container, none of them twice."""
    drawn: dict[tuple[int, str, str], Manifest] = {}
    for _ in range(draw.number(1, 2) if draw.seldom(30) else 0):
        port, protocol = draw.one((8080, 8081)), draw.one(("TCP", "TCP", "UDP"))
        address = draw.one(("", "0.0.0.0", "10.0.0.1", "::"))  # noqa: S104 - an address that a pod asks for
        found: Manifest = {"containerPort": 1000 + len(drawn), "hostPort": port, "protocol": protocol}
        drawn[port, protocol, address] = {**found, **({"hostIP": address} if address else {})}
    return list(drawn.values())


RUNTIME_CLASS: Manifest = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "fidelity-heavy"},
    "handler": "heavy",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
}
"""A class whose pods have an overhead, which the API server writes into them."""
