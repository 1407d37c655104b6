"""Which nodes a plan leaves empty."""

from __future__ import annotations

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Plan, PlanResult
from rescheduler.report.flows import flows_of


def emptied_nodes(plan: Plan | PlanResult, cluster: Cluster) -> tuple[str, ...]:
    """Names of nodes whose last pod leaves, in order; pods that go with their node do not count.

    Of a result those that are empty by what happened.
    """
    flows = flows_of(plan)
    gone = {flow.pod.key for flow in flows}
    used = {flow.target for flow in flows}
    left = {flow.origin for flow in flows if flow.origin is not None and flow.pod.key in cluster.pod_by_key}
    return tuple(sorted(name for name in left - used if _is_empty_without(gone, name, cluster)))


def _is_empty_without(gone: set[str], node: str, cluster: Cluster) -> bool:
    if node not in cluster.node_by_name:
        return False
    pods = cluster.pods_by_node.get(node, ())
    return all(pod.key in gone or pod.is_terminating or pod.belongs_to_its_node for pod in pods)
