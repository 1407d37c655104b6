"""Karpenter with its own test cloud: built from its module, started beside the control plane, asked for its metrics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
import yaml

from rescheduler.model.objects.annotations import DO_NOT_DISRUPT
from rescheduler.model.objects.resources import offered_amount
from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.building.builds import build
from tests.cluster.building.go_toolchain import BuildError, find_go, go_environment
from tests.cluster.building.modules import KARPENTER
from tests.cluster.plane.control_plane import ADMINISTRATORS, ControlPlane
from tests.cluster.plane.custom_kinds import served_kinds
from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component
from tests.cluster.plane.readiness import healthy
from tests.cluster.waiting import wait_until

USER = "karpenter"
NODE_POOLS = "karpenter.sh/v1/nodepools"
NODE_CLAIMS = "karpenter.sh/v1/nodeclaims"
NODE_CLASSES = "karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
_COST = re.compile(r"^karpenter_nodepools_cost_total\{[^}]*\} (\S+)$", re.MULTILINE)


def locate_karpenter() -> Path:
    """The binary, built if the cache lacks it, which takes minutes."""
    return build(KARPENTER, find_go()) / "karpenter-kwok"


def _sources() -> Path:
    """The module's own folder, where its CRDs and its price list lie."""
    command = [str(find_go()), "list", "-mod=mod", "-m", "-f", "{{.Dir}}", KARPENTER.upstream]
    done = subprocess.run(
        command, cwd=KARPENTER.folder, env=go_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode or not done.stdout.strip():
        raise BuildError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")
    return Path(done.stdout.strip())


@dataclass(frozen=True)
class Karpenter:
    """A running one. ``metrics``: where it tells what it knows."""

    api: Api
    metrics: str
    sources: Path

    def price_an_hour(self) -> float:
        """What it says that all its nodes cost."""
        answer = urllib3.request("GET", self.metrics, timeout=10.0, retries=False)
        return sum(map(float, _COST.findall(answer.data.decode())))

    def node_claims(self) -> dict[str, Manifest]:
        """Machines by name."""
        return {item["metadata"]["name"]: item for item in self.api.list(NODE_CLAIMS)}

    def price_file(self, folder: Path, *endings: str) -> Path:
        """Its own price list as a table of prices; ``endings``: of the types that are listed (none: all)."""
        types: list[dict[str, Any]] = json.loads((self.sources / "kwok/cloudprovider/instance_types.json").read_text())
        listed = [one for one in types if not endings or one["name"].endswith(endings)]
        path = folder / "prices.json"
        path.write_text(json.dumps({"per": "hour", "prices": [row for one in listed for row in _rows(one)]}))
        return path

    def add_pool(self, *, policy: str = "WhenEmpty", after: str = "30m", **requirements: list[str]) -> None:
        """A pool that buys what kwok's cloud sells, on demand; waits until Karpenter has taken it up."""
        asked = {
            "kubernetes.io/arch": ["amd64"],
            "kubernetes.io/os": ["linux"],
            "karpenter.sh/capacity-type": ["on-demand"],
            "karpenter.kwok.sh/instance-cpu": requirements.get("cpu", ["2", "4"]),
            "karpenter.kwok.sh/instance-family": ["c", "s", "m"],
        }
        template = {
            "requirements": [{"key": key, "operator": "In", "values": values} for key, values in asked.items()],
            "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
            "expireAfter": "Never",
        }
        disruption = {"consolidationPolicy": policy, "consolidateAfter": after, "budgets": [{"nodes": "100%"}]}
        spec = {"template": {"spec": template}, "disruption": disruption}
        self.api.create(
            {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": spec}
        )

        def is_ready() -> bool:
            conditions = self.api.get(NODE_POOLS, "default").get("status", {}).get("conditions", [])
            return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)

        wait_until(is_ready, "the NodePool to be ready", timeout_seconds=60)

    def hand_over(self, policy: str) -> None:
        """From now on its pool has this policy."""
        self.api.patch(NODE_POOLS, "default", {"spec": {"disruption": {"consolidationPolicy": policy}}})

    def consolidate(self, after: str) -> None:
        """From now on it sells what is empty for so long."""
        self.api.patch(NODE_POOLS, "default", {"spec": {"disruption": {"consolidateAfter": after}}})

    def forbid(self, claim: str, value: str | None) -> None:
        """Write ``karpenter.sh/do-not-disrupt`` on a machine's NodeClaim, which its node does not get; None: none."""
        self.api.patch(NODE_CLAIMS, claim, {"metadata": {"annotations": {DO_NOT_DISRUPT: value}}})

    def clear(self) -> None:
        """Take away pods, pools and machines while Karpenter runs, which alone removes its finalizers."""
        for kind in ("deployments", "replicasets", "pods"):
            for item in self.api.list(kind, "default"):
                _delete(self.api, kind, item["metadata"]["name"], "default")
        for kind in (NODE_POOLS, NODE_CLAIMS):
            for item in self.api.list(kind):
                _delete(self.api, kind, item["metadata"]["name"])
        wait_until(
            lambda: not self.node_claims() and not self.api.list("nodes"),
            lambda: f"no machine left; there are {sorted(self.node_claims())}",
            timeout_seconds=120,
        )


@contextmanager
def karpenter(plane: ControlPlane) -> Iterator[Karpenter]:
    """Run it until the block ends; what it bought goes first, and then its kinds, which no other test expects."""
    binary, sources = locate_karpenter(), _sources()
    kinds = (NODE_POOLS, NODE_CLAIMS, NODE_CLASSES)
    served = served_kinds(
        plane.api, _kinds_of(sources), lambda: all(plane.api.list(kind) is not None for kind in kinds)
    )
    with served, _started(plane, binary, sources) as found:
        yield found


@contextmanager
def _started(plane: ControlPlane, binary: Path, sources: Path) -> Iterator[Karpenter]:
    """The process, beside kinds that are served."""
    metadata = {"name": "default"}
    spec = {"nodeRegistrationDelay": "5s"}  # none would hide every race
    kind = {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass"}
    plane.api.create({**kind, "metadata": metadata, "spec": spec})
    metrics, health = free_port(), free_port()
    settings = {
        "KUBECONFIG": str(plane.user_kubeconfig(USER, (ADMINISTRATORS,))),
        "DISABLE_LEADER_ELECTION": "true",
        "METRICS_PORT": str(metrics),
        "HEALTH_PROBE_PORT": str(health),
        "LOG_LEVEL": "debug",
        "SYSTEM_NAMESPACE": "kube-system",
    }
    command = [
        shutil.which("env") or "/usr/bin/env",
        *(f"{name}={value}" for name, value in settings.items()),
        str(binary),
    ]
    log = plane.root / "logs" / "karpenter.log"
    process = Component("karpenter", command, log, healthy(f"http://127.0.0.1:{health}/readyz"))
    found = Karpenter(plane.api, f"http://127.0.0.1:{metrics}/metrics", sources)
    try:
        process.start()
        yield found
        found.clear()
    finally:
        process.stop()
        _without_finalizers(plane.api)


def _delete(api: Api, kind: str, name: str, namespace: str | None = None) -> None:
    """What is gone meanwhile is as good as deleted."""
    try:
        api.delete(kind, name, namespace)
    except ApiError as error:
        if error.code != 404:
            raise


def _without_finalizers(api: Api) -> None:
    """What is left when a test failed: nobody runs any more who would let it go."""
    for kind in ("nodes", NODE_CLAIMS, NODE_POOLS, NODE_CLASSES):
        for item in api.list(kind):
            name = item["metadata"]["name"]
            if item["metadata"].get("finalizers"):
                api.patch(kind, name, {"metadata": {"finalizers": None}})
            _delete(api, kind, name)


def _kinds_of(sources: Path) -> list[Manifest]:
    """Its CustomResourceDefinitions and those of its test cloud."""
    files = [*(sources / "kwok/charts/crds").glob("*.yaml"), *(sources / "kwok/apis/crds").glob("*.yaml")]
    return [yaml.safe_load(path.read_text()) for path in sorted(files)]


def _offered(size: dict[str, str]) -> dict[str, str]:
    """What the test cloud lets pods have of a machine: it keeps 100m and 10Mi for the kubelet."""
    millicores, memory_bytes = (offered_amount(name, size[name]) for name in ("cpu", "memory"))
    return {"cpu": f"{millicores - 100}m", "memory": str(memory_bytes - 10 * 2**20), "pods": size["pods"]}


def _rows(instance_type: dict[str, Any]) -> Iterator[dict[str, Any]]:
    size = _offered(instance_type["resources"])
    for offering in instance_type["offerings"]:
        said = {one["key"]: one["values"][0] for one in offering["Requirements"]}
        yield {
            "instanceType": instance_type["name"],
            "capacityType": said["karpenter.sh/capacity-type"],
            "zone": said["topology.kubernetes.io/zone"],
            "price": offering["Price"],
            "resources": size,
        }
