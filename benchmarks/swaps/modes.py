"""How each mode tries to let the pods of two full nodes change places; see ``python -m benchmarks.swaps``."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.extension_points import ExecutionTarget, HoldRequest
from rescheduler.model.plan.plan import PodReference
from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.guidance.guided_scenes import POLICY, exchange, pods_of

HOLDS: Final = "rescheduler-holds"
PLACES: Final = {"x": "b-0", "y": "a-0"}
"""Where the pods of each workload are to be in the end."""
CREATION_SECONDS: Final = 20.0

Attempt = Callable[[Cluster, Path], None]


def predict(cluster: Cluster, _: Path) -> None:
    """Evict both and leave the rest to the scheduler: with this mode nothing else is written."""
    _evict_both(cluster, _target(cluster))


def hold(cluster: Cluster, _: Path) -> None:
    """Placeholders keep both holes until the old pods are gone; then the new pods, pending by now, are nominated."""
    target = _target(cluster)
    requests = [
        HoldRequest(f"hold-{app}", node, (("cpu", 4000),), "", "default-scheduler", 60, "swap")
        for app, node in PLACES.items()
    ]
    target.hold(requests)
    old = _evict_both(cluster, target)
    new = _new_pods(cluster, old)
    for app, pod in new.items():
        target.nominate(_reference(pod), PLACES[app])
    target.release([request.name for request in requests])


def guide(cluster: Cluster, folder: Path) -> None:
    """``rescheduler apply`` with a plan whose wave is marked ``evictFirst``."""
    plan, policy = folder / "plan.json", folder / "policy.yaml"
    plan.write_text(exchange(cluster))
    policy.write_text(f"apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n{POLICY}\n")
    command = [sys.executable, "-m", "rescheduler", "apply", "--yes", "--plan", str(plan), "--policy", str(policy)]
    kubeconfig = cluster.control_plane.kubeconfig
    done = subprocess.run(
        [*command, "--kubeconfig", str(kubeconfig)], check=False, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)


MODES: Final[dict[str, Attempt]] = {"Predict": predict, "Hold": hold, "Guide": guide}


def _target(cluster: Cluster) -> ExecutionTarget:
    connection = connect(str(cluster.control_plane.kubeconfig), read_only=False)
    return KubernetesTarget(connection, LiveReader(connection), clock=SystemClock(), hold_namespace=HOLDS)


def _evict_both(cluster: Cluster, target: ExecutionTarget) -> dict[str, str]:
    """Evict the pods of both workloads, one right after the other; their uids."""
    pods = {app: pods_of(cluster, app)[0] for app in PLACES}
    for pod in pods.values():
        target.evict(_reference(pod), pod["metadata"]["resourceVersion"], dry_run=False)
    return {app: pod["metadata"]["uid"] for app, pod in pods.items()}


def _new_pods(cluster: Cluster, old: dict[str, str]) -> dict[str, Manifest]:
    """The replacements, once the old pods are gone."""
    ends_at = time.monotonic() + CREATION_SECONDS
    while time.monotonic() < ends_at:
        pods = cluster.api.list("pods", "default")
        here = {pod["metadata"]["uid"] for pod in pods}
        new = {pod["metadata"]["labels"]["app"]: pod for pod in pods if pod["metadata"]["labels"]["app"] in PLACES}
        if not here & set(old.values()) and new.keys() == PLACES.keys():
            return new
        time.sleep(0.02)
    raise TimeoutError("the pods that were evicted have no successors")


def _reference(pod: Manifest) -> PodReference:
    metadata = pod["metadata"]
    return PodReference(metadata["namespace"], metadata["name"], metadata["uid"])
