"""Which pods' places depend on other pods beyond resources, so that planners may treat all the rest linearly."""

from __future__ import annotations

from collections.abc import Iterable

from rescheduler.model.columns.affinity_terms import AffinityTerms, Group
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.attachments import AttachedVolumes
from rescheduler.model.columns.columns import Columns
from rescheduler.scheduling.filters.node_ports import PortHolders
from rescheduler.scheduling.filters.volume_restrictions import has_exclusive_disk, one_pod_claims


class Entanglement:
    """Ties between the pods of one cluster, wherever the pods are."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._terms = columns.facts(AffinityTerms)

    def depends(self, pod: int) -> bool:
        """Whether other pods decide where this one fits."""
        columns = self._columns
        spec = columns.shapes[columns.shape_of[pod]]
        has_spread = any(rule.when_unsatisfiable == "DoNotSchedule" for rule in spec.topology_spread)
        if spec.affinity or has_spread or self._shares_a_thing(pod):
            return True
        about = self._terms.anti_affinity.about(int(columns.label_set_of[pod]))
        return _has_others((*about, *self._terms.own(pod).repelled_by), pod)

    def _shares_a_thing(self, pod: int) -> bool:
        """Whether ports, attach limits, one-pod claims or disks tie the pod to others."""
        columns = self._columns
        ports = columns.shapes[columns.shape_of[pod]].host_ports
        if ports and any(_others(pods, pod) for pods in columns.facts(PortHolders).in_conflict(ports)):
            return True
        subject = columns.cluster.pods[pod]
        if not subject.volumes:
            return False
        is_limited = bool(columns.facts(AttachedVolumes).of(pod))
        return is_limited or bool(one_pod_claims(columns, subject)) or has_exclusive_disk(subject.volumes)


def _has_others(groups: Iterable[Group], pod: int) -> bool:
    return any(_others(group.pods, pod) for group in groups)


def _others(pods: IntArray, pod: int) -> bool:
    return bool((pods != pod).any())
