"""What happens after evictions: old pods go, replacements find their nodes and become ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.landing.placing import PATIENCE_SECONDS, Nominator
from rescheduler.execution.landing.unwanted import UnwantedPods
from rescheduler.execution.stopping import MoveFailedError, PlanStoppedError, Waiter
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget, Progress
from rescheduler.model.plan.plan import Move, OutcomeKind, reference_to

OWN_WAY_SECONDS: Final = 0.15
"""How long a new pod is given to find its node by itself."""
CREATION_SECONDS: Final = 60.0
"""How long an owner may take to make a new pod, and a pod to go after its grace."""


class Settler:
    """Watches moved pods, leads those that wait for a node, and tells where they landed."""

    def __init__(
        self,
        target: ExecutionTarget,
        holds: Holds,
        nominator: Nominator,
        waiter: Waiter,
        clock: Clock,
        outcomes: Outcomes,
        progress: Progress,
        failed: Callable[[Move, str], None] = lambda _, __: None,
    ) -> None:
        """``failed`` is told of each move whose replacement does not work, and why."""
        self._failed = failed
        self._holds = holds
        self._nominator = nominator
        self._waiter = waiter
        self._clock = clock
        self._outcomes = outcomes
        self._progress = progress
        self._departures = Departures(target)
        self._failing_since: float | None = None
        self._unwanted = UnwantedPods(target.read)

    def watch(self, departures: Departures) -> None:
        """Remember a wave's departures, for the report of a plan that stops amid them."""
        self._departures = departures

    @property
    def departures(self) -> Departures:
        """Those of the wave that is under way."""
        return self._departures

    @property
    def departed(self) -> Sequence[EvictedPod]:
        """Those of the wave that is under way, as last seen."""
        return self._departures.all

    def look_after(self, departure: EvictedPod) -> None:
        """Watch one replacement until it is bound, where others wait for that."""
        if departure.pod.controller is None:
            return
        for _ in self._waiter.polls(CREATION_SECONDS + departure.pod.spec.termination_grace_seconds):
            self.look(departure)
            if departure.landed_on is not None:
                return

    def await_change(self, until: float | None) -> None:
        """Look until one of the pods on their way has got further, or until a moment of the waiter's clock.

        Raises PlanStoppedError where that takes too long; what is ready is waited for as long as the plan has time.
        """
        departures = self._departures
        before, began, all_gone_at = _progress_of(departures), self._waiter.now, None
        try:
            for _ in self._waiter.polls():
                self.look()
                now = self._waiter.now
                if _progress_of(departures) != before or (until is not None and now >= until):
                    return
                if all_gone_at is None and all(item.is_gone for item in departures.open):
                    all_gone_at = now
                if departures.open and _is_late(departures.open, now - began, now - (all_gone_at or now)):
                    break
        except PlanStoppedError as stopped:
            if departures.open:
                raise
            self._tell_unready()
            raise self._not_ready(stopped) from None
        raise PlanStoppedError(_told(departures.open, _where_it_stands))

    def settle(self, departures: Departures) -> None:
        """Wait until the old pods are gone and the new ones bound, and tell where. Raises PlanStoppedError."""
        self.watch(departures)
        while departures.open:
            self._progress("waiting for moved pods", len(departures.all) - len(departures.open), len(departures.all))
            self.await_change(None)
        self._holds.release(item.move.pod for item in departures.all)
        for item in departures.all:
            self.tell(item)

    def wait_ready(self, departures: Departures) -> None:
        """Wait until all new pods are ready; the next wave counts on them. Raises PlanStoppedError.

        What had landed and is gone again may never come back, as when its owner was scaled down, rolled out or deleted:
        for that nobody waits longer than for what has not landed yet.
        """
        unready = [item for item in departures.all if not item.is_ready]
        lost_since: float | None = None
        try:
            for _ in self._waiter.polls():
                if not unready:
                    return
                self.look()
                unready = [item for item in departures.all if not item.is_ready]
                self._progress("waiting for moved pods to be ready", len(departures.all) - len(unready))
                lost, now = departures.open, self._waiter.now
                lost_since = None if not lost else now if lost_since is None else lost_since
                if lost_since is not None and now - lost_since > _patience(lost):
                    break
        except PlanStoppedError as stopped:
            self._tell_unready()
            raise self._not_ready(stopped) from None
        self._tell_unready()
        raise PlanStoppedError(_told(departures.open, _how_it_was_lost))

    def _tell_unready(self) -> None:
        """Tell of what has a node and does not work there yet; of what has failed there is told already."""
        for item in self._unready:
            if item.failure is None:
                self._outcomes.of_move(item.move, OutcomeKind.UNKNOWN, item.landed_on, f"{_name(item)} is not ready")

    def _not_ready(self, stopped: PlanStoppedError) -> PlanStoppedError:
        if isinstance(stopped, MoveFailedError):
            return stopped
        return PlanStoppedError(f"{', '.join(map(_name, self._unready))} did not get ready: {stopped}")

    @property
    def _unready(self) -> list[EvictedPod]:
        return [item for item in self._departures.all if not item.is_ready]

    def tell_open(self, *, wait: bool) -> None:
        """Tell of departures that no outcome is known of, after a last look (a longer one if ``wait``)."""
        departures = self._departures
        untold = [item for item in departures.all if not self._outcomes.is_told(item.move)]
        if not untold:
            return
        self._nominator.is_guided = False
        try:
            for _ in self._waiter.polls(PATIENCE_SECONDS if wait else 0.0):
                departures.look()
                if not departures.open:
                    break
        except (ClusterError, PlanStoppedError):
            pass  # what was seen last is told
        for item in untold:
            if item.landed_on is not None or not item.has_owner:
                self.tell(item)
            else:
                self._outcomes.of_move(item.move, OutcomeKind.UNKNOWN, None, f"evicted; {_where_it_stands(item)}")

    def look(self, only: EvictedPod | None = None) -> None:
        """See how they stand, and lead those that wait for a node. Raises PlanStoppedError at a failed replacement."""
        if not self._tolerated(lambda: self._see(only)):
            return
        for item in self._departures.all if only is None else [only]:
            new = item.replacement
            if new is not None and new.node_name is None:
                pod = reference_to(new)
                self._nominator.lead(pod, item.move.to_node, item.move.pod, after_seconds=OWN_WAY_SECONDS)
        self._stop_at_failure()

    def _see(self, only: EvictedPod | None) -> None:
        self._departures.look(only)
        self._unwanted.find(self._departures.all if only is None else [only], self._clock.monotonic())

    def _stop_at_failure(self) -> None:
        """A move whose replacement cannot work ends the plan: nothing gets better by moving more."""
        failures = [(item, item.failure) for item in self._departures.all]
        told = [(item, why) for item, why in failures if why is not None]
        for item, why in told:
            self._outcomes.of_move(item.move, OutcomeKind.UNKNOWN, item.landed_on, f"failed: {why}")
            self._failed(item.move, why)
        if told:
            raise MoveFailedError(f"{told[0][0].move.pod.key} was evicted, and {told[0][1]}; nothing further is moved")

    def _tolerated(self, look: Callable[[], None]) -> bool:
        """Look at the cluster; an API server that fails for a moment is asked again later."""
        now = self._clock.monotonic()
        try:
            look()
        except ClusterError:
            self._failing_since = now if self._failing_since is None else self._failing_since
            if now - self._failing_since > PATIENCE_SECONDS:
                raise
            return False
        self._failing_since = None
        return True

    def tell(self, item: EvictedPod) -> None:
        """Tell where a pod came to rest."""
        if item.replacement is not None and item.landed_on is not None:
            self._nominator.arrived(reference_to(item.replacement))
        if item.landed_on is None:
            why = "" if item.unwanted is None else f": {item.unwanted}"
            self._outcomes.of_move(item.move, OutcomeKind.LANDED_ELSEWHERE, None, f"nothing recreates this pod{why}")
        else:
            self._outcomes.landed(item.move, item.landed_on, f"as {_name(item)}")


def _name(item: EvictedPod) -> str:
    return item.replacement.key if item.replacement is not None else f"the replacement of {item.move.pod.key}"


def _progress_of(departures: Departures) -> list[tuple[bool, str | None, bool]]:
    return [(item.is_gone, item.landed_on, item.is_ready) for item in departures.all]


def _is_late(departures: Sequence[EvictedPod], seconds: float, since_gone: float) -> bool:
    """Whether pods that nothing was seen of for so long, and whose old pods are gone for so long, come no more."""
    grace = max(item.pod.spec.termination_grace_seconds for item in departures)
    return seconds > grace + CREATION_SECONDS + PATIENCE_SECONDS or since_gone > _patience(departures)


def _patience(departures: Sequence[EvictedPod]) -> float:
    """A pod that is there only waits for its node; one that is not may still be made."""
    return PATIENCE_SECONDS if all(item.replacement is not None for item in departures) else CREATION_SECONDS


def _told(departures: Sequence[EvictedPod], where: Callable[[EvictedPod], str]) -> str:
    """What ends the plan, of a few; ``where``: how it is with one of them."""
    told = "; ".join(f"{item.move.pod.key} was evicted, {where(item)}" for item in departures[:3])
    return f"{told}; nothing further is moved"


def _how_it_was_lost(item: EvictedPod) -> str:
    if item.replacement is None:
        return "but its replacement is gone and nothing has come for it"
    return f"but its replacement is gone and {item.replacement.key} waits for a node"


def _where_it_stands(item: EvictedPod) -> str:
    if not item.is_gone:
        return "but it has not gone yet"
    if item.replacement is None:
        return "but nothing has replaced it yet"
    return f"but {item.replacement.key} waits for a node"
