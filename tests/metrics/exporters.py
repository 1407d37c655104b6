"""What exporters would have written of a scene: node-exporter, cAdvisor, the kubelet, recording rules of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from tests.metrics.prometheus_server import Point, series
from tests.metrics.scenes import Load, PodLoad, Scene

Exporter = Callable[[Scene, Sequence[Node]], Iterable[Point]]
_MEMORY_BYTES = 16e9
_RIVAL = "rival"


def counted(values: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """A counter at each time, such that its rate is the value there."""
    total, before = 1000.0, inf
    for at, value in values:
        total += value * max(0.0, at - before)
        before = at
        yield at, total


def node_exporter(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """Two cpus, some of the idle time spent waiting for disks; ``instance`` is the node's name with a port."""
    for labels, loads in _series(scene):
        for cpu in ("0", "1"):
            for mode, share in (("idle", 0.9), ("iowait", 0.1)):
                name = series("node_cpu_seconds_total", {**labels, "cpu": cpu, "mode": mode})
                yield from _points(name, counted((one.at, share * (1 - one.cpu)) for one in loads))
            name = series("node_cpu_seconds_total", {**labels, "cpu": cpu, "mode": "user"})
            yield from _points(name, counted((one.at, one.cpu) for one in loads))
        total, available = (series(f"node_memory_{name}_bytes", labels) for name in ("MemTotal", "MemAvailable"))
        yield from _points(total, ((one.at, _MEMORY_BYTES) for one in loads))
        yield from _points(available, ((one.at, (1 - one.memory) * _MEMORY_BYTES) for one in loads))


def old_rules(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """kube-prometheus' rules as Trimaran's load watcher asks for them, without what they are made of."""
    yield from _rules(scene, "instance:node_cpu:ratio")


def new_rules(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """kube-prometheus' rules under their later name."""
    yield from _rules(scene, "instance:node_cpu_utilisation:rate5m")


def cadvisor(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """The root of all containers of each node, in cores and bytes; ``node`` names it."""
    yield from _absolute(
        scene, nodes, ("container_cpu_usage_seconds_total", "container_memory_working_set_bytes"), {"id": "/"}
    )


def kubelet(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """The kubelet's /metrics/resource, in cores and bytes."""
    yield from _absolute(scene, nodes, ("node_cpu_usage_seconds_total", "node_memory_working_set_bytes"), {})


def containers(scene: Scene, nodes: Sequence[Node]) -> Iterator[Point]:
    """cAdvisor's containers: two for each pod, the whole pod's own series, and the same kubelet scraped twice."""
    for key, loads in scene.pods.items():
        for job in ("kubelet", "kubelet-again"):
            labels = {"namespace": key.namespace, "pod": key.name, "job": job}
            for container, share in (("app", 0.75), ("sidecar", 0.25), ("", 1.0)):
                yield from _container({**labels, "container": container}, loads, share)


def _container(labels: Mapping[str, str], loads: Sequence[PodLoad], share: float) -> Iterator[Point]:
    cpu, memory = (
        series("container_cpu_usage_seconds_total", labels),
        series("container_memory_working_set_bytes", labels),
    )
    yield from _points(cpu, counted((one.at, share * one.millicores / 1000) for one in loads))
    yield from _points(memory, ((one.at, share * one.memory_bytes) for one in loads))


def _rules(scene: Scene, cpu: str) -> Iterator[Point]:
    for labels, loads in _series(scene):
        yield from _points(series(cpu, labels), ((one.at, one.cpu) for one in loads))
        memory = series("instance:node_memory_utilisation:ratio", labels)
        yield from _points(memory, ((one.at, one.memory) for one in loads))


def _absolute(
    scene: Scene, nodes: Sequence[Node], names: tuple[str, str], further: Mapping[str, str]
) -> Iterator[Point]:
    capacity = {one.name: dict(one.capacity) for one in nodes}
    for labels, loads in _series(scene):
        host = labels["instance"].partition(":")[0]
        cores, memory = capacity[host][CPU] / 1000, capacity[host][MEMORY]
        found = {"node": host, "instance": f"10.9.9.9:{labels['instance'].partition(':')[2]}", **further}
        yield from _points(series(names[0], found), counted((one.at, one.cpu * cores) for one in loads))
        yield from _points(series(names[1], found), ((one.at, one.memory * memory) for one in loads))


def _series(scene: Scene) -> Iterator[tuple[dict[str, str], Sequence[Load]]]:
    for host, loads in scene.hosts.items():
        yield {"instance": f"{host}:9100", "job": "node"}, loads
    for host, loads in scene.rivals.items():
        yield {"instance": f"{host}:9200", "job": _RIVAL}, loads


def _points(name: str, values: Iterable[tuple[float, float]]) -> Iterator[Point]:
    return (Point(name, at, value) for at, value in values)
