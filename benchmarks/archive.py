"""How large an archive becomes: snapshots every 5 minutes of a cluster whose pods come, go and use what they like."""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.reading.data import node_objects, pod_objects
from rescheduler.adapters.files.archive.archive_reading import archived_text
from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
from rescheduler.adapters.files.archive.snapshot_names import ArchivedName

START = 1_772_323_200  # 2026-03-01T00:00:00Z
EVERY = 300
DAY = 86400


def main() -> None:
    """Record for so many hours, and print what a day would take."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=30000)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--churn", type=float, default=0.01, help="share of pods that are replaced between snapshots")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    pods, nodes = list(pod_objects(given.pods, given.nodes, given.seed)), list(node_objects(given.nodes, given.seed))
    use = {pod["metadata"]["name"]: chance.uniform(0.1, 3.0) for pod in pods}
    with tempfile.TemporaryDirectory() as folder:
        writer, taken = ArchiveWriter(f"{folder}/archive"), []
        for number in range(round(given.hours * 3600 / EVERY)):
            at = START + number * EVERY
            _change(pods, nodes, given.churn, at, chance)
            recording, load = _written(Path(folder), pods, nodes, use, at, chance)
            began = time.process_time()
            writer.add(read_content(recording, load), time.time())
            taken.append(time.process_time() - began)
        began = time.process_time()
        text = sum(map(len, archived_text(ArchivedName(f"{folder}/archive", at))))
        reading = time.process_time() - began
        hours = _bytes_by_hour(Path(f"{folder}/archive"))
        size = sum(hours)
    a_day = size * DAY / (given.hours * 3600)
    result = {"nodes": given.nodes, "pods": given.pods, "snapshots": len(taken), "megabytesOfOneAsText": text / 1e6,
              "megabytes": size / 1e6, "megabytesADay": a_day / 1e6, "cpuSecondsToAdd": sum(taken) / len(taken),
              "cpuSecondsToRead": reading}  # fmt: skip
    megabytes = {"megabytesByHour": [round(one / 1e6, 2) for one in hours]}
    print(json.dumps({key: round(value, 2) for key, value in result.items()} | megabytes))


def _bytes_by_hour(archive: Path) -> list[int]:
    """Each UTC hour has a pool of its own, so what one takes hangs on no other."""
    found: Counter[str] = Counter()
    for path in archive.iterdir():
        found[path.name[: len("2026-03-01T00")]] += path.stat().st_size
    return [size for _, size in sorted(found.items())]


def _change(
    pods: list[dict[str, Any]], nodes: list[dict[str, Any]], churn: float, at: int, chance: random.Random
) -> None:
    """Pods are replaced; kubelets write the status of their nodes."""
    for number in chance.sample(range(len(pods)), round(churn * len(pods))):
        meta = dict(pods[number]["metadata"])
        meta |= {"uid": f"{chance.getrandbits(128):032x}", "creationTimestamp": _rfc(at), "resourceVersion": str(at)}
        pods[number] = {**pods[number], "metadata": meta}
    for number, node in enumerate(nodes):
        nodes[number] = {**node, "metadata": {**node["metadata"], "resourceVersion": str(at * 10 + number)}}


def _written(
    folder: Path,
    pods: list[dict[str, Any]],
    nodes: list[dict[str, Any]],
    use: dict[str, float],
    at: int,
    chance: random.Random,
) -> tuple[str, str]:
    marks = {"rescheduler.dev/takenAt": _rfc(at)}
    document = {"apiVersion": "v1", "kind": "List", "metadata": {"annotations": marks}, "items": [
        *({"apiVersion": "v1", "kind": "Pod", **pod} for pod in pods),
        *({"apiVersion": "v1", "kind": "Node", **node} for node in nodes)]}  # fmt: skip
    recording, load = folder / "cluster.json", folder / "load.json"
    recording.write_text(json.dumps(document, separators=(",", ":")))
    data = {
        "NodeMetricsMap": {node["metadata"]["name"]: _load(chance.uniform(20, 80), chance) for node in nodes},
        "PodMetricsMap": {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": _load(use[pod["metadata"]["name"]], chance)
            for pod in pods
        },
    }
    load.write_text(json.dumps({"window": {"start": at - 60, "end": at}, "data": data}))
    return str(recording), str(load)


def _load(mean: float, chance: random.Random) -> dict[str, Any]:
    """As ``record`` measures: three digits of a percentage, another value each time."""
    cpu = round(max(0.0, chance.gauss(mean, mean / 10)), 3)
    memory = round(mean * chance.uniform(0.98, 1.02), 3)
    return {"metrics": [{"type": "CPU", "operator": "Latest", "value": cpu},
                        {"type": "Memory", "operator": "Latest", "value": memory}]}  # fmt: skip


def _rfc(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
