"""Takes away what earlier processes left: taints nobody renews, pods at a gate nobody opens, pods taken out."""

from __future__ import annotations

from datetime import datetime

from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.objects.annotations import EXPIRES, GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.detachment import detachment_of
from rescheduler.model.plan.leaving_taint import SLACK_SECONDS, is_expired, leaving_taints
from rescheduler.model.plan.plan import reference_to


def tidy_up(target: ExecutionTarget, cluster: Cluster, hold_seconds: float, lease: str = "") -> int:
    """Remove what has expired of any plan; how many things there were. Raises ClusterError.

    ``hold_seconds``: a gated pod without a readable expiry has waited long enough after this. ``lease``: by which we
    lead, and carry nothing out now: what was taken out under it, nobody looks after any more.
    """
    now = cluster.taken_at
    # Given back first: then a ReplicaSet deletes its pod that waits at the gate.
    out = [
        pod
        for pod in cluster.pods
        if not pod.is_terminating and (found := detachment_of(pod))
        if (lease and found.lease == lease) or _is_over(found.expires, pod, now)
    ]
    for pod in out:
        target.give_back(reference_to(pod))
    nodes = [node for node, taint in leaving_taints(cluster).items() if is_expired(taint, now)]
    if nodes and target.can_taint() is None:
        target.untaint(nodes)
    held = (pod for pod in cluster.gated_pods if GUIDE_GATE in pod.scheduling_gates)
    stale = [pod for pod in held if _is_stale(pod, now, hold_seconds)]
    for pod in stale:
        target.ungate(reference_to(pod))
    return len(out) + len(nodes) + len(stale)


def _is_stale(pod: Pod, now: float, hold_seconds: float) -> bool:
    return _is_over(pod.annotations.get(EXPIRES, ""), pod, now, hold_seconds)


def _is_over(expires: str, pod: Pod, now: float, seconds: float = 0.0) -> bool:
    """Whether a time has passed; one that cannot be read has so many seconds after the pod was made."""
    try:
        ends_at = datetime.fromisoformat(expires).timestamp()
    except ValueError:
        ends_at = (pod.created_at or 0.0) + seconds
    return now > ends_at + SLACK_SECONDS
