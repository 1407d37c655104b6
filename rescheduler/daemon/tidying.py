"""Takes away what earlier processes left: taints that nobody renews, and pods that wait at a gate nobody opens."""

from __future__ import annotations

from datetime import datetime

from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.annotations import EXPIRES, GUIDE_GATE
from rescheduler.model.cluster import Cluster
from rescheduler.model.leaving_taint import SLACK_SECONDS, is_expired, leaving_taints
from rescheduler.model.plan import PodReference
from rescheduler.model.pod import Pod


def tidy_up(target: ExecutionTarget, cluster: Cluster, hold_seconds: float) -> int:
    """Remove what has expired of any plan; how many things there were. Raises ClusterError.

    ``hold_seconds``: a gated pod without a readable expiry has waited long enough after this.
    """
    now = cluster.taken_at
    nodes = [node for node, taint in leaving_taints(cluster).items() if is_expired(taint, now)]
    if nodes and target.can_taint() is None:
        target.untaint(nodes)
    stale = [pod for pod in cluster.pods if GUIDE_GATE in pod.scheduling_gates and _is_stale(pod, now, hold_seconds)]
    for pod in stale:
        target.ungate(PodReference(pod.namespace, pod.name, pod.uid))
    return len(nodes) + len(stale)


def _is_stale(pod: Pod, now: float, hold_seconds: float) -> bool:
    try:
        ends_at = datetime.fromisoformat(pod.annotations[EXPIRES]).timestamp()
    except (KeyError, ValueError):
        ends_at = (pod.created_at or 0.0) + hold_seconds
    return now > ends_at + SLACK_SECONDS
