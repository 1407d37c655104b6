"""One measurement of reading, in a process of its own so that its memory is its own: run by ``benchmarks.reading``."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import peak_megabytes
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.cluster import ClusterBuilder
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_page
from rescheduler.adapters.kubernetes.reading.reader import LiveReader

PODS = KIND_BY_NAME["Pod"]


def live(connection: Connection, _: int) -> dict[str, Any]:
    """The whole snapshot, as ``rescheduler plan`` takes it."""
    started, cpu = time.perf_counter(), time.process_time()
    cluster = LiveReader(connection).read()
    return {
        "seconds": time.perf_counter() - started,
        "cpuSeconds": time.process_time() - cpu,
        "pods": len(cluster.pods),
        "nodes": len(cluster.nodes),
        "specifications": len({id(pod.spec) for pod in cluster.pods}),
    }


def some_pods(connection: Connection, pages: int) -> dict[str, Any]:
    """A part of the pods, for the comparison with the official models."""
    started = time.perf_counter()
    builder = ClusterBuilder()
    for _, page in zip(range(pages), connection.pages(PODS.path), strict=False):
        for found in decode_page(PODS, page):
            builder.add("Pod", found)
    return {"seconds": time.perf_counter() - started, "pods": builder.count("Pod")}


def official_models(connection: Connection, pages: int) -> dict[str, Any]:
    """The same part through the official client's own models, kept as a list."""
    from kubernetes import client

    api = client.CoreV1Api(client.ApiClient(client.Configuration(host=connection.server)))
    started, found, token = time.perf_counter(), [], None
    for _ in range(pages):
        page = api.list_pod_for_all_namespaces(limit=500, **({"_continue": token} if token else {}))
        found += page.items
        token = page.metadata._continue if hasattr(page.metadata, "_continue") else page.metadata.var_continue
        if not token:
            break
    return {"seconds": time.perf_counter() - started, "pods": len(found)}


def json_loads(connection: Connection, _: int) -> dict[str, Any]:
    """``json.loads`` of the same bytes, page by page, the collector as it is, the time of serving them left out."""
    seconds, cpu, total = 0.0, 0.0, 0
    for page in _all_pages(connection):
        started, used = time.perf_counter(), time.thread_time()
        json.loads(page)
        seconds += time.perf_counter() - started
        cpu += time.thread_time() - used
        total += len(page)
    return {"seconds": seconds, "cpuSeconds": cpu, "bytes": total}


def recording(path: str) -> dict[str, Any]:
    """A recording instead of a live cluster."""
    started, cpu = time.perf_counter(), time.process_time()
    cluster = read_recording([path])
    return {
        "seconds": time.perf_counter() - started,
        "cpuSeconds": time.process_time() - cpu,
        "pods": len(cluster.pods),
        "nodes": len(cluster.nodes),
        "specifications": len({id(pod.spec) for pod in cluster.pods}),
    }


MEASUREMENTS: dict[str, Callable[[Connection, int], dict[str, Any]]] = {
    "live": live,
    "some_pods": some_pods,
    "official_models": official_models,
    "json_loads": json_loads,
}


def _all_pages(connection: Connection) -> Iterator[bytes]:
    for name in ("Pod", "Node"):
        yield from connection.pages(KIND_BY_NAME[name].path)


def _connection(server: str) -> Connection:
    with tempfile.TemporaryDirectory() as folder:
        return connect(str(write_kubeconfig(Path(folder) / "config", server)), read_only=True)


def write_kubeconfig(path: Path, server: str) -> Path:
    """A kubeconfig of a server that asks nobody who he is."""
    path.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "c",
            }
        )
    )
    return path


def main() -> None:
    """``NAME SERVER PAGES``, or ``recording PATH``; prints one line of JSON."""
    name, target, *rest = sys.argv[1:]
    found = recording(target) if name == "recording" else MEASUREMENTS[name](_connection(target), int(rest[0]))
    print(json.dumps({**found, "peakMegabytes": peak_megabytes()}))


if __name__ == "__main__":
    main()
