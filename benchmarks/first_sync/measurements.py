"""One measurement of the mirror, in a process of its own so that its memory is its own: run by ``first_sync``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import MonotonicClock, peak_megabytes
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import Container, PodObject, PodSpecObject, PodStatus
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.adapters.kubernetes.watch.mirror import MIRROR_SETTINGS, Mirror
from rescheduler.adapters.kubernetes.watch.watch_lines import Marked
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.plugins import load_policy
from rescheduler.model.objects.cluster import Cluster
from tests.cluster.waiting import wait_until

CHANGED_PODS = 10
ROUNDS = 5


def main() -> int:
    """Measure what the arguments say, and print it as JSON."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    connection = connect(asked["kubeconfig"], read_only=False)
    print(json.dumps(read_once(connection) if asked.get("is_reading") else mirrored(connection, asked)))
    return 0


def read_once(connection: Connection) -> dict[str, Any]:
    """The same cluster read as each cycle did before."""
    started, cpu = time.perf_counter(), time.process_time()
    LiveReader(connection).read()
    return {"seconds": _since(started), "cpuSeconds": _cpu_since(cpu), "peakMegabytes": peak_megabytes()}


def mirrored(connection: Connection, asked: dict[str, Any]) -> dict[str, Any]:
    """First sync, snapshots after a few changes, a storm of changes, and one cycle of the planner."""
    settings = MIRROR_SETTINGS._replace(is_streaming=asked["is_streaming"])
    mirror = Mirror(connection, MonotonicClock(), settings=settings)
    started, cpu = time.perf_counter(), time.process_time()
    mirror.start()
    if not mirror.wait_synced(900.0):
        raise TimeoutError(str(mirror.kinds_out_of_sync()))
    found: dict[str, Any] = {
        "syncSeconds": _since(started), "syncCpuSeconds": _cpu_since(cpu), "syncPeakMegabytes": peak_megabytes(),
        "syncedMegabytes": _resident_megabytes(),
    }  # fmt: skip
    found |= _snapshots(connection, mirror, asked)
    if asked["touch"]:
        found |= _storm(mirror, asked)
    found |= {"ageSeconds": round(mirror.age_seconds(), 1), "megabytes": _resident_megabytes()}
    cluster = mirror.snapshot()
    found |= {"pods": len(cluster.pods), "nodes": len(cluster.nodes), "workloads": len(cluster.workloads),
              "specifications": len({id(pod.spec) for pod in cluster.pods})}  # fmt: skip
    found |= _planned(cluster, Path(asked["policy"]))
    found |= {"peakMegabytes": peak_megabytes(), "endedInTime": mirror.stop()}
    return found


def _snapshots(connection: Connection, mirror: Mirror, asked: dict[str, Any]) -> dict[str, Any]:
    """The first snapshot, one of an unchanged cluster, and those after a handful of changes each."""
    first, cluster = _timed(mirror)
    unchanged, _ = _timed(mirror)
    if asked.get("is_pretended"):
        return {"firstSnapshotCpuMilliseconds": first, "unchangedSnapshotCpuMilliseconds": unchanged,
                "changedSnapshotCpuMilliseconds": _touched_here(mirror, cluster)}  # fmt: skip
    pods, changed = cluster.pods[:: max(1, len(cluster.pods) // CHANGED_PODS)][:CHANGED_PODS], []
    for number in range(ROUNDS):
        for pod in pods:
            patch = {"metadata": {"annotations": {"round": str(number)}}}
            path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
            connection.send("PATCH", path, patch, content_type="application/merge-patch+json")
        _wait_until_still(mirror)
        changed.append(_timed(mirror)[0])
    return {"firstSnapshotCpuMilliseconds": first, "unchangedSnapshotCpuMilliseconds": unchanged,
            "changedSnapshotCpuMilliseconds": sorted(changed)}  # fmt: skip


def _touched_here(mirror: Mirror, cluster: Cluster) -> list[float]:
    """Snapshots after changes that no server told: pods that go and come, and some that change."""
    store, found = mirror.stores["Pod"], []
    for number in range(ROUNDS):
        for index, pod in enumerate(cluster.pods[number :: max(1, len(cluster.pods) // CHANGED_PODS)]):
            meta = ObjectMeta(pod.name, pod.namespace, pod.uid, str(10_000_000 + number * 1000 + index))
            if index % 3 == 0:
                store.delete(Marked(meta))
            else:
                spec = PodSpecObject(containers=[Container(name="main")], node_name=pod.node_name, priority=0)
                store.upsert(PodObject(meta, spec, PodStatus(phase="Running")))
        found.append(_timed(mirror)[0])
    return sorted(found)


def _storm(mirror: Mirror, asked: dict[str, Any]) -> dict[str, Any]:
    """Many pods change as fast as they can be written; snapshots are taken meanwhile."""
    before, cpu, snapshots, ages = mirror.generation, time.process_time(), [], []
    command = [sys.executable, "-m", "benchmarks.first_sync.store", asked["etcd"], "--pods", str(asked["pods"]),
               "--nodes", str(asked["nodes"]), "--touch", str(asked["touch"])]  # fmt: skip
    with subprocess.Popen(command) as writer:
        wait_until(lambda: mirror.generation != before, "a change", timeout_seconds=60.0)
        started = last = time.perf_counter()
        while time.perf_counter() - started < 300.0:
            generation = mirror.generation
            ages.append(mirror.age_seconds())
            snapshots.append(_timed(mirror)[0])
            time.sleep(1.0)
            if mirror.generation != generation:
                last = time.perf_counter()
            elif writer.poll() is not None and mirror.generation - before >= asked["touch"]:
                break
    count, seconds = mirror.generation - before, last - started
    return {"stormChanges": count, "stormSeconds": round(seconds, 2), "stormChangesPerSecond": round(count / seconds),
            "stormCpuSeconds": _cpu_since(cpu), "stormSnapshotCpuMilliseconds": max(snapshots),
            "stormAgeSeconds": round(max(ages), 2)}  # fmt: skip


def _planned(cluster: Cluster, policy: Path) -> dict[str, Any]:
    """One cycle that makes room."""
    started, cpu = time.perf_counter(), time.process_time()
    plan = make_plan(cluster, load_policy([policy]), CycleOptions(MonotonicClock()))
    return {"planSeconds": _since(started), "planCpuSeconds": _cpu_since(cpu), "planMoves": len(plan.moves),
            "planPending": len(cluster.pending_pods), "planPlacements": len(plan.placements)}  # fmt: skip


def _timed(mirror: Mirror) -> tuple[float, Cluster]:
    """Milliseconds of this thread's processor for a snapshot."""
    cpu = time.thread_time()
    cluster = mirror.snapshot()
    return round(1000 * (time.thread_time() - cpu), 1), cluster


def _wait_until_still(mirror: Mirror) -> None:
    generation = -1
    while generation != mirror.generation:
        generation = mirror.generation
        time.sleep(0.3)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


def _cpu_since(started: float) -> float:
    return round(time.process_time() - started, 2)


def _resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


if __name__ == "__main__":
    sys.exit(main())
