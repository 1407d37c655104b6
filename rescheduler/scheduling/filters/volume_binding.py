"""A pod's volumes must be reachable from its node, or be bound or provisioned there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.volumes import EPHEMERAL, PodClaims, bindable, provisionable, reachable
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.storage import PersistentVolumeClaim
from rescheduler.scheduling.plugin import SchedulerFilter

OTHER_NODES = "node(s) didn't match PersistentVolume's node affinity"
NOT_BINDABLE = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


class VolumeBinding(SchedulerFilter):
    """Each claim to provision is tested alone against the storage left, as kube-scheduler does. No eviction helps."""

    name = "VolumeBinding"
    predicates = ("CheckVolumeBinding",)
    volcano_switch = "predicate.VolumeBindingEnable"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """All nodes for a claim that cannot be used at all; else nodes that a claim's volume cannot be on."""
        columns = placement.columns
        subject = columns.cluster.pods[pod]
        claims = columns.facts(PodClaims)
        fault = next((fault for claim in claims.of(subject) if (fault := _fault(subject, *claim))), None)
        usable = [claim for _, _, claim in claims.of(subject) if claim is not None]
        bound = [claim for claim in usable if is_bound(claim)]
        unbound = [claim for claim in usable if not is_bound(claim)]
        if fault is None and not all(claims.is_delayed(claim) and not claim.volume_name for claim in unbound):
            fault = UNBOUND
        if fault is not None:
            everywhere = np.ones(columns.node_count, dtype=np.bool_)
            return (Rejection(fault, everywhere, is_resolvable=False, scope="pod"),)
        return (*_reject_bound(columns, bound), *_reject_unbound(columns, unbound))


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether the binding of a claim is complete."""
    return claim.is_bound and bool(claim.volume_name)


def _fault(pod: Pod, kind: str, name: str, claim: PersistentVolumeClaim | None) -> str | None:
    """Why a claim makes the pod unschedulable everywhere, in kube-scheduler's words."""
    if claim is None:
        waits = kind == EPHEMERAL
        missing = f'persistentvolumeclaim "{name}"'
        return f"waiting for ephemeral volume controller to create the {missing}" if waits else f"{missing} not found"
    if claim.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume_name}"'
    if claim.is_terminating:
        return f'persistentvolumeclaim "{name}" is being deleted'
    if kind == EPHEMERAL and all(owner.uid != pod.uid for owner in claim.owners):
        return f"PVC {claim.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
    return None


def _reject_bound(columns: Columns, claims: Sequence[PersistentVolumeClaim]) -> list[Rejection]:
    unreachable = np.zeros(columns.node_count, dtype=np.bool_)
    for claim in claims:
        volume = columns.cluster.volume_by_name.get(claim.volume_name)
        if volume is None:
            return [Rejection(NO_VOLUME, np.ones_like(unreachable), is_resolvable=False)]
        unreachable |= ~reachable(columns, volume)
    return [Rejection(OTHER_NODES, unreachable, is_resolvable=False)]


def _reject_unbound(columns: Columns, claims: Sequence[PersistentVolumeClaim]) -> list[Rejection]:
    refused = np.zeros(columns.node_count, dtype=np.bool_)
    short = refused.copy()
    to_provision: list[tuple[PersistentVolumeClaim, BoolArray]] = []
    for claim in claims:
        if claim.selected_node is not None:
            is_selected = np.array([node.name == claim.selected_node for node in columns.cluster.nodes], dtype=np.bool_)
            refused |= ~is_selected
            to_provision.append((claim, is_selected))
    others = sorted((claim for claim in claims if claim.selected_node is None), key=lambda c: c.requested_bytes)
    to_provision.extend((claim, ~mask) for claim, mask in zip(others, bindable(columns, others), strict=True))
    for claim, where in to_provision:
        allowed, has_space = provisionable(columns, claim)
        undecided = where & ~refused & ~short  # the first claim that fails speaks for the node
        refused |= undecided & ~allowed
        short |= undecided & allowed & ~has_space
    return [
        Rejection(NOT_BINDABLE, refused, is_resolvable=False),
        Rejection(NO_SPACE, short, is_resolvable=False),
    ]
