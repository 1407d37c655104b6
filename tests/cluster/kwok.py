"""What kwok, the pretended kubelet of all nodes, is told, and the annotations that steer it."""

from __future__ import annotations

from pathlib import Path

STAGES = Path(__file__).parent / "stages.yaml"

READY_AFTER = "rescheduler-test/ready-after"
"""On a pod: it runs at once and is ready after this time, such as `2s`."""
NEVER_READY = "rescheduler-test/never-ready"
"""On a pod: it runs and never becomes ready; taking the annotation away makes it ready."""
COMPLETE_AFTER = "rescheduler-test/complete-after"
"""On a pod: it succeeds after it has been ready for this time, as a Job's pod does."""
GONE_AFTER = "rescheduler-test/gone-after"
"""On a pod: it takes this time to go once it is deleted or evicted; without it, it goes at once."""
NOT_READY = "rescheduler-test/not-ready"
"""On a node: it stays or becomes unready; taking the annotation away makes it ready."""


def kwok_command(binary: Path, port: int, kubeconfig: Path) -> list[str]:
    """Return the command that plays every node of the cluster."""
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--config={STAGES}",
        f"--server-address=127.0.0.1:{port}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        "--cidr=10.64.0.0/10",
        "--node-lease-duration-seconds=40",
    ]
