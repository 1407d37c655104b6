"""Pending pods get the room that was made for them, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.outcomes import Outcomes, landing
from rescheduler.execution.stopping import PlanOvertakenError, Waiter
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, Progress
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import OutcomeKind, PlannedPlacement, PodReference, reference_to

# Leads one pending pod into the room that is kept for it: nominate, let go of the room, and again if that failed.

FIRST_PATIENCE_SECONDS: Final = 2.0
MOMENT_SECONDS: Final = 0.5
"""Within which a scheduler that is not busy has tried a pod."""


@dataclass
class _Lead:
    """``hold``: what kept the room. ``due_at``: when to try again."""

    hold: HeldRoom | None
    patience_seconds: float
    due_at: float


class Nominator:
    """Leads pods that are pending. Does nothing but release room while ``is_guided`` is False.

    The order matters: a pod that is tried while its own placeholder stands fails, and that clears its nomination. So
    the nomination comes right before the release, which makes the scheduler try again; and where the try failed all
    the same, the room is kept and released anew, since nothing else would wake the pod.
    """

    def __init__(self, target: ExecutionTarget, holds: Holds, clock: Clock) -> None:
        self.is_guided = False
        self._target = target
        self._holds = holds
        self._clock = clock
        self._leads: dict[PodReference, _Lead] = {}
        self._nominated: dict[PodReference, str] = {}

    def lead(self, pod: PodReference, node: str, holder: PodReference, *, after_seconds: float = 0.0) -> None:
        """Lead a pod to a node whose room is kept under the name of ``holder``; to be called while it is pending.

        ``after_seconds``: the time a pod is given to be bound without us, from the first call on.
        """
        if not self.is_guided:
            return
        now = self._clock.monotonic()
        lead = self._leads.setdefault(pod, _Lead(self._holds.of(holder), FIRST_PATIENCE_SECONDS, now + after_seconds))
        if now < lead.due_at:
            return
        if lead.hold is not None and self._holds.of(holder) is None:
            self._holds.set([lead.hold])
        self.nominate(pod, node)
        self._holds.release([holder])
        lead.due_at = self._clock.monotonic() + lead.patience_seconds
        lead.patience_seconds *= 2

    def suggest(self, pod: PodReference, node: str) -> None:
        """Nominate a pod for room that is free already."""
        if self.is_guided:
            self.nominate(pod, node)

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Nominate a pod, and remember to take that off at the end; False if it is bound, gone or another by now."""
        self._nominated[pod] = node  # known before the call: what a lost answer has brought about is taken off too
        is_nominated = self._target.nominate(pod, node)
        if not is_nominated:
            self.arrived(pod)
        return is_nominated

    def arrived(self, pod: PodReference) -> None:
        """A pod has a node: its nomination says nothing any more."""
        self._nominated.pop(pod, None)

    def end(self) -> list[str]:
        """Take off what is left of nominations, which would keep room for pods that nobody leads any more; in words
        which of them could not be. Who was let go right before this gets there first."""
        if self._nominated:
            self._clock.sleep(MOMENT_SECONDS)
        left = []
        for pod, node in self._nominated.items():
            try:
                self._target.withdraw_nomination(pod, node)
            except ClusterError as error:
                left.append(f"the nomination of {pod.key} to {node} could not be taken off: {error}")
        self._nominated.clear()
        return left


PATIENCE_SECONDS: Final = 30.0
"""How long a pod may wait for a node that has room for it."""
START_SECONDS: Final = 60.0
"""How long pods that were placed are watched until they run; they count as placed before."""


class Placer:
    """Lets pending pods in where room was made."""

    def __init__(
        self,
        target: ExecutionTarget,
        holds: Holds,
        nominator: Nominator,
        waiter: Waiter,
        outcomes: Outcomes,
        progress: Progress,
    ) -> None:
        self._target = target
        self._holds = holds
        self._nominator = nominator
        self._waiter = waiter
        self._outcomes = outcomes
        self._progress = progress

    def place(self, placements: Sequence[PlannedPlacement]) -> None:
        """Let these pods in and wait until they are bound. Raises PlanOvertakenError.

        Placeholders for later pods on the same nodes may be larger than the room there now: they stand back meanwhile,
        before anything else, so that nobody but the pods at hand finds the room open.
        """
        pods = [item.pod for item in placements]
        standing_back = self._holds.on({item.node for item in placements}, but_for=pods)
        self._holds.remove(standing_back)
        for number, item in enumerate(placements):
            self._progress("placing pending pods", number, len(placements))
            self._place(item)
        self._holds.set(standing_back)
        self._wait_running(placements)

    def wait_for_homes(self, pods: Sequence[Pod]) -> None:
        """Give pods of an earlier run time to find a node."""
        homeless = list(pods)
        for _ in self._waiter.polls(PATIENCE_SECONDS):
            homeless = [pod for pod in homeless if self._is_waiting(reference_to(pod))]
            if not homeless:
                return

    def _place(self, item: PlannedPlacement) -> None:
        try:
            for _ in self._waiter.polls(PATIENCE_SECONDS):
                if self._is_placed(item):
                    return
                self._nominator.lead(item.pod, item.node, item.pod)
        finally:
            if not self._outcomes.is_told(item):
                message = f"still pending although its room on {item.node} was made"
                self._outcomes.of_placement(item, OutcomeKind.UNKNOWN, None, message)
        raise PlanOvertakenError(
            f"{item.pod.key} did not get the room that was made on {item.node}; `rescheduler explain pod "
            f"{item.pod.key}` says what is in the way"
        )

    def _is_placed(self, item: PlannedPlacement) -> bool:
        live = self._target.read_pod(item.pod.namespace, item.pod.name)
        if live is None or live.uid != item.pod.uid:
            self._outcomes.of_placement(item, OutcomeKind.UNKNOWN, None, "gone before it was placed")
            raise PlanOvertakenError(f"{item.pod.key}, which room was made for, is gone or another pod by now")
        if live.node_name is None:
            return False
        self._outcomes.of_placement(item, landing(item.node, live.node_name), live.node_name)
        self._holds.release([item.pod])
        self._nominator.arrived(item.pod)
        if self._nominator.is_guided:
            self._target.record(item.pod, "RoomMade", f"got a place on {live.node_name}")
        return True

    def _wait_running(self, placements: Sequence[PlannedPlacement]) -> None:
        waiting = list(placements)
        for _ in self._waiter.polls(START_SECONDS):
            waiting = [item for item in waiting if not self._runs(item.pod)]
            if not waiting:
                return
        self._outcomes.warnings.extend(
            f"{item.pod.key} is placed but does not run yet, {START_SECONDS:.0f} s later" for item in waiting
        )

    def _runs(self, pod: PodReference) -> bool:
        live = self._target.read_pod(pod.namespace, pod.name)
        return live is None or live.phase != "Pending"

    def _is_waiting(self, pod: PodReference) -> bool:
        live = self._target.read_pod(pod.namespace, pod.name)
        return live is not None and live.uid == pod.uid and live.is_pending
