"""Benchmark: ``python -m benchmarks.execution.at_scale --nodes 5000 --pods 150000``: a plan on a large cluster.

A real API server; its objects are written straight into etcd, since scheduler, controllers and kwok would take longer
than the plan. In their place this program puts a Ready pod where the plan said for each that is evicted. Counted
are bytes received and processor time of the process that carries the plan out, from its first eviction on, beside
those of listing the cluster once.
"""

from __future__ import annotations

import argparse
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.command_line import write_result
from benchmarks.first_sync.store import large_cluster, write
from benchmarks.machine import describe_machine
from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.request_names import request_name
from rescheduler.adapters.kubernetes.client.traffic import Traffic
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.cli.main import main as rescheduler
from rescheduler.model.times import rfc3339
from tests.cluster.plane.control_plane import ControlPlane

POLICY: Final = """apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
objectives: [{name: SchedulerScore, args: {minimumGain: 10}}]
scope: {minimumAge: 0s}
limits: {maxEvictions: MOVES, maxEvictionsPerNode: 100, maxEvictionsPerNamespace: 100, deadline: 30s}
disruption:
  rampUp: unlimited
  rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}
guidance: Predict
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 where the plan was not carried out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.execution.at_scale", description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--new-nodes", type=int, default=50, help="nodes without a pod, to which others are moved")
    parser.add_argument("--moves", type=int, default=100, help="at most so many")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, help="where the result is written (default: standard output)")
    options = parser.parse_args(arguments)
    if options.measure:
        return _carry_out(json.loads(options.measure))
    large = large_cluster(options.pods, options.nodes, waiting=0, new_nodes=options.new_nodes)
    with large as (plane, _), tempfile.TemporaryDirectory() as folder:
        found = _measured(plane, Path(folder), options.moves)
    write_result({"instance": f"{options.pods} pods, {options.nodes} nodes", **found, "machine": describe_machine()},
                 options.output, indent=1)  # fmt: skip
    return int(found["code"] != 0)


def _measured(plane: ControlPlane, folder: Path, moves: int) -> dict[str, Any]:
    policy, plan = folder / "policy.yaml", folder / "plan.json"
    policy.write_text(POLICY.replace("MOVES", str(moves)))
    kubeconfig = str(plane.kubeconfig)
    asked = [sys.executable, "-m", "rescheduler", "plan", "--kubeconfig", kubeconfig, "--policy", str(policy)]
    plan.write_text(subprocess.run([*asked, "-o", "json"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    document = json.loads(plan.read_text())
    print(f"{len(document['moves'])} moves", file=sys.stderr, flush=True)
    what = json.dumps({"kubeconfig": kubeconfig, "policy": str(policy), "plan": str(plan)})
    with replaced(connect(kubeconfig, read_only=False), plane.etcd, document):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.execution.at_scale", "--measure", what],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    waves = len({move["wave"] for move in document["moves"]})
    shares = {name: round(found["running"][name] / (waves * found["listed"][name]), 4) for name in found["running"]}
    return {"moves": len(document["moves"]), "waves": waves, "shareOfAListAWave": shares, **found}


# What owners, scheduler and kubelets would do.


@contextmanager
def replaced(connection: Connection, etcd: str, plan: dict[str, Any]) -> Iterator[None]:
    """For the time of the block each evicted pod of the plan is replaced at once, and works."""
    version = json.loads(connection.get("/api/v1/pods", {"limit": "1"}))["metadata"]["resourceVersion"]
    world = _World(connection, etcd, plan)
    threading.Thread(target=world.follow, args=(version,), daemon=True).start()
    yield
    if world.trouble is not None:
        raise world.trouble


class _World:
    """Evicted pods go and others come."""

    def __init__(self, connection: Connection, etcd: str, plan: dict[str, Any]) -> None:
        self.trouble: Exception | None = None
        self._connection, self._etcd = connection, etcd
        self._to = {move["pod"]["uid"]: move["toNode"] for move in plan["moves"]}

    def follow(self, version: str) -> None:
        """Until the process ends."""
        try:
            params = {"watch": "1", "resourceVersion": version}
            with self._connection.stream("/api/v1/pods", params, read_timeout=3600.0) as stream:
                for line in stream:
                    pod = json.loads(line)["object"]
                    if pod["metadata"].get("deletionTimestamp") and pod["metadata"]["uid"] in self._to:
                        self._replace(pod)
        except Exception as error:  # noqa: BLE001 # whoever waits for the plan raises it
            self.trouble = error

    def _replace(self, pod: dict[str, Any]) -> None:
        meta = pod["metadata"]
        node = self._to.pop(meta["uid"])
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        self._connection.send("DELETE", path, {"gracePeriodSeconds": 0})
        kept = {key: meta[key] for key in ("generateName", "namespace", "labels", "annotations", "ownerReferences")}
        name, now = meta["name"][:-5] + meta["uid"][:5], rfc3339(time.time())
        new = {**kept, "name": name, "uid": f"new-{meta['uid']}", "creationTimestamp": now}
        self._put(new, {**pod["spec"], "nodeName": node}, _started(pod["status"], now))

    def _put(self, meta: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> None:
        meta = {key: value for key, value in meta.items() if key != "resourceVersion"}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}
        write(self._etcd, [(f"/registry/pods/{meta['namespace']}/{meta['name']}", pod)])


def _started(status: dict[str, Any], now: str) -> dict[str, Any]:
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in ("PodScheduled", "Ready")]
    return {**status, "phase": "Running", "startTime": now, "conditions": conditions}


# The process that carries the plan out, which counts for itself.


class _Counted:
    """What this process has received and used so far, and what it has asked for since its first eviction."""

    def __init__(self) -> None:
        self.bytes = 0
        self.began: dict[str, float] | None = None
        self.asked: Counter[str] = Counter()

    def now(self) -> dict[str, float]:
        """Bytes received, seconds of processor time, and of time."""
        return {"bytes": self.bytes, "cpuSeconds": time.process_time(), "seconds": time.monotonic()}

    def since(self, began: dict[str, float]) -> dict[str, float]:
        """What was used since then."""
        return {name: round(value - began[name], 3) for name, value in self.now().items()}

    def patch(self) -> None:
        """Count from now on."""
        receive, evict, sending = ssl.SSLSocket.recv_into, KubernetesTarget.evict, Traffic.sending

        def counted_receive(this: ssl.SSLSocket, *given: Any, **named: Any) -> int:
            size = receive(this, *given, **named)
            self.bytes += size
            return size

        def counted_evict(this: KubernetesTarget, *given: Any, dry_run: bool) -> Any:
            if not dry_run and self.began is None:
                self.began = self.now()
            return evict(this, *given, dry_run=dry_run)

        def counted_sending(this: Traffic, method: str, path: str, *, is_stream: bool = False) -> Any:
            if self.began is not None:
                self.asked[" ".join(request_name(method, path, is_stream=is_stream))] += 1
            return sending(this, method, path, is_stream=is_stream)

        for owner, name, counted in (
            (ssl.SSLSocket, "recv_into", counted_receive),
            (KubernetesTarget, "evict", counted_evict),
            (Traffic, "sending", counted_sending),
        ):
            setattr(owner, name, counted)


def _carry_out(asked: dict[str, str]) -> int:
    counted = _Counted()
    counted.patch()
    answer = os.dup(1)
    os.dup2(2, 1)
    words = ["--kubeconfig", asked["kubeconfig"], "--policy", asked["policy"], "--plan", asked["plan"]]
    code = rescheduler(["apply", "--yes", *words, "-o", "json"])
    running = counted.since(counted.began) if counted.began else {}
    asked_for = dict(counted.asked.most_common())
    began = counted.now()
    LiveReader(connect(asked["kubeconfig"], read_only=True)).read()
    found = {"code": code, "running": running, "listed": counted.since(began), "asked": asked_for}
    os.write(answer, json.dumps(found).encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
