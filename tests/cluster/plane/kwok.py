"""What kwok, the pretended kubelet of all nodes, is told, and the annotations that steer it."""

from __future__ import annotations

from pathlib import Path

import yaml

STAGES = Path(__file__).parent / "stages.yaml"
USAGE = Path(__file__).parent / "usage.yaml"

READY_AFTER = "rescheduler-test/ready-after"
"""On a pod: it runs at once and is ready after this time, such as `2s`."""
NEVER_READY = "rescheduler-test/never-ready"
"""On a pod: it runs and never becomes ready; taking the annotation away makes it ready."""
CANNOT_PULL = "rescheduler-test/cannot-pull"
"""On a pod: `true`, and it waits on its node for an image that cannot be pulled; taking it away lets it run."""
COMPLETE_AFTER = "rescheduler-test/complete-after"
"""On a pod: it succeeds after it has been ready for this time, as a Job's pod does."""
GONE_AFTER = "rescheduler-test/gone-after"
"""On a pod: it takes this time to go once it is deleted or evicted; without it, it goes at once."""
NOT_READY = "rescheduler-test/not-ready"
"""On a node: it stays or becomes unready; taking the annotation away makes it ready."""
USED_CPU = "rescheduler-test/used-cpu"
"""On a pod: the cpu that its containers use, such as `250m`; none without it."""
USED_MEMORY = "rescheduler-test/used-memory"
"""On a pod: the memory that its containers use, such as `64Mi`; none without it."""


def resource_metrics_path(node: str) -> str:
    """Where kwok serves what a node's kubelet would serve under /metrics/resource."""
    return f"/metrics/nodes/{node}/metrics/resource"


def write_forwarding(file: Path, port: int) -> Path:
    """Whatever port of whatever pod kubectl forwards leads to this port of this machine."""
    forwards = [{"target": {"address": "127.0.0.1", "port": port}}]
    head = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterPortForward", "metadata": {"name": "here"}}
    file.write_text(yaml.safe_dump({**head, "spec": {"forwards": forwards}}))
    return file


def kwok_command(binary: Path, port: int, kubeconfig: Path, forwarding: Path) -> list[str]:
    """Return the command that plays every node of the cluster.

    Without leases: in kwok 0.8.0 the queue that renews them stands still for good once a node was deleted and made anew
    while its lease was being renewed, and 50 s later every node is unready. So the controller manager expects none.
    """
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--config={STAGES}",
        f"--config={USAGE}",
        f"--config={forwarding}",
        f"--server-address=127.0.0.1:{port}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        "--cidr=10.64.0.0/10",
        "--node-lease-duration-seconds=0",
    ]
