"""What Events say: of which object, in which words. Nothing of other namespaces stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import UNSET

from rescheduler.adapters.telemetry.log_lines import timestamp
from rescheduler.model.daemon.notices import ApprovalWanted, CapacityRequested, DefaultsBind, PolicyHeld, RoundEnded
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import ObjectiveResult, PodReference, Status, reference_to
from rescheduler.model.printable import first_few

EVICTION_PLANNED: Final = "EvictionPlanned"
NO_ROOM: Final = "NoRoomPossible"
NO_ROOM_FOUND: Final = "NoRoomFound"
CAPACITY: Final = "CapacityRequested"
OFFERED: Final = "NodeOffered"
HELD: Final = "PolicyHeld"
SET_ASIDE: Final = "SetAside"
DEFAULTS: Final = "DefaultsBind"
MOST_WORDS: Final = 3


class PodEvent(NamedTuple):
    """An Event on a pod, and on its owner. ``once``: what makes it another one, beside pod and reason."""

    pod: PodReference
    reason: str
    note: str
    once: str = ""


def planned(notice: ApprovalWanted) -> Iterator[PodEvent]:
    """Pods that a plan would move, once a person says yes."""
    until = timestamp(notice.expires_at)
    for move in notice.plan.moves:
        would = (
            "evict this pod" if move.destination is None else f"move this pod from {move.from_node} to {move.to_node}"
        )
        note = f"plan {notice.plan_id} would {would} ({move.objective}); it waits for approval until {until}"
        yield PodEvent(move.pod, EVICTION_PLANNED, note, notice.plan_id)


def capacity(notice: CapacityRequested) -> Iterator[PodEvent]:
    """Pods for which room was asked of an autoscaler."""
    for pod in notice.pods:
        yield PodEvent(pod, CAPACITY, f"no rearrangement helps; room was asked of the autoscaler ({notice.how})")


def not_helped(notice: RoundEnded, cluster: Cluster | None) -> Iterator[PodEvent]:
    """Pending pods that were to be helped, were not left alone by a rule, and get no place.

    ``cluster``: as last seen; pods that came while the round ran are left out.
    """
    report = notice.report
    making_room = _making_room(report)
    if making_room is None or report.plan is None or cluster is None:
        return
    settled = {place.pod.uid for place in report.plan.placements}
    settled |= {refusal.pod.uid for refusal in report.plan.refusals if refusal.pod is not UNSET}
    reason, note = _why(making_room, report)
    for pod in cluster.pending_pods:
        is_old = pod.created_at is not None and pod.created_at < report.started_at
        is_ours = pod.labels.get(MANAGED_BY) == OURS
        if is_old and pod.uid not in settled and not (is_ours or pod.scheduling_gates or pod.belongs_to_its_node):
            yield PodEvent(reference_to(pod), reason, note)


def held(notice: PolicyHeld) -> tuple[str, str]:
    """Reason and note of a policy that waits to be acknowledged."""
    words = first_few(notice.widening, MOST_WORDS, "; ", "; and ")
    note = f"policy {notice.held_id} reaches further than {notice.policy_id}, which stays in force: {words}"
    return HELD, note


def defaults(notice: DefaultsBind) -> tuple[str, str]:
    """Reason and note of what binds though the policy does not say so."""
    return DEFAULTS, f"policy {notice.policy_id} says nothing of these, so that they bind: {'; '.join(notice.words)}"


def _making_room(report: RoundReport) -> ObjectiveResult | None:
    """The objective that left pending pods without a place."""
    for objective in () if report.plan is None else report.plan.objectives:
        if objective.wanted is not UNSET and objective.helped is not UNSET and objective.helped < objective.wanted:
            return objective
    return None


def _why(objective: ObjectiveResult, report: RoundReport) -> tuple[str, str]:
    plan = f" (plan {report.plan_id})" if report.plan_id else ""
    if objective.status is Status.INFEASIBLE:
        return NO_ROOM, f"proven: no allowed rearrangement makes room for all pods that wait{plan}"
    if objective.status is Status.OPTIMAL:
        return NO_ROOM, f"making room would take more evictions than it is worth{plan}"
    return NO_ROOM_FOUND, f"no room was found in the planning time; it is not proven that there is none{plan}"
