"""The gate of one plan while it is carried out: closed for the owners whose pods leave, and open again at its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import Clock, ClusterError, ExecutionTarget
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import reference_to

RETRY_SECONDS: Final = 1.0
NOBODY: Final = "rescheduler.dev/nobody"
"""An owner that no pod has: with it the rule stands, and gates nothing."""


class Gates:
    """Holds replacements back until their places are free. ``deadline_seconds``: how long the rule may outlive us.

    From ``begin`` to ``end`` a rule stands; pods wait from ``close`` to ``open``.
    """

    def __init__(self, target: ExecutionTarget, clock: Clock, plan_id: str, deadline_seconds: float) -> None:
        self._target = target
        self._clock = clock
        self._plan_id = plan_id
        self._deadline_seconds = max(1, int(deadline_seconds))
        self._owners: list[str] = []
        self._due_at = self._ends_at = 0.0
        self._families: dict[str, tuple[str, LabelSelector | None]] = {}

    @property
    def stands(self) -> bool:
        """Whether the rule may be in force."""
        return bool(self._owners)

    def begin(self) -> str | None:
        """Put the rule in force, for nobody yet; the reason why that cannot be done."""
        try:
            self._put([NOBODY])
        except ClusterError as error:
            return str(error)
        return None

    def close(self, departing: Iterable[tuple[Pod, LabelSelector | None]]) -> None:
        """From now on, new pods of these pods' owners wait for us. Raises ClusterError."""
        for pod, selector in departing:
            if pod.controller is not None:
                self._families[pod.controller.uid] = (pod.namespace, selector)
        self._put(sorted(self._families) or [NOBODY])

    def open(self) -> None:
        """Hold nobody back any more, and let all go that still wait. Raises ClusterError; to be called again then."""
        self._put([NOBODY])
        self._let_all_go()
        self._families = {}

    def end(self) -> None:
        """Take the rule away, and let all go that still wait. Raises ClusterError; to be called again then."""
        if self._owners:
            self._target.gate_replacements((), self._plan_id, self._deadline_seconds)
            self._owners = []
        self._let_all_go()
        self._families = {}

    def keep(self) -> None:
        """Renew the rule once half its time is over. Raises PlanStoppedError where that fails for too long."""
        now = self._clock.monotonic()
        if not self._owners or now < self._due_at:
            return
        try:
            self._put(self._owners)
        except ClusterError as error:
            if now >= self._ends_at:
                raise PlanStoppedError(f"replacements could not be held back any longer: {error}") from error
            self._due_at = now + RETRY_SECONDS

    def let_go(self, pod: Pod) -> bool:
        """Let one pod go to its place; False if it is gone. Raises ClusterError."""
        return self._target.ungate(reference_to(pod))

    def _put(self, owners: list[str]) -> None:
        began = self._clock.monotonic()
        # Known before the call: where its answer is lost, ``end`` takes the rule away all the same.
        self._owners = owners
        self._target.gate_replacements(owners, self._plan_id, self._deadline_seconds)
        self._due_at, self._ends_at = began + self._deadline_seconds / 2, began + self._deadline_seconds

    def _let_all_go(self) -> None:
        """Pods that came meanwhile for other reasons than ours, and those of a plan that stops amid them."""
        for namespace, selector in dict.fromkeys(self._families.values()):
            for pod in self._target.read_pods(namespace, selector):
                if is_gated(pod) and pod.controller is not None and pod.controller.uid in self._families:
                    self.let_go(pod)


def is_gated(pod: Pod) -> bool:
    """Whether a pod waits for us and for nothing else that we know of."""
    return GUIDE_GATE in pod.scheduling_gates and pod.is_pending
