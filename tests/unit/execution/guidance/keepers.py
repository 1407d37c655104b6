"""A cluster in which placeholders, taints and a gate are only noted, and fail as often as told."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference

FIRST, SECOND = PodReference("default", "a", "1"), PodReference("default", "b", "2")


def hold(pod: PodReference | None, name: str, on: str = "n0", cpu: int = 1000, seconds: int = 10) -> HeldRoom:
    """A placeholder that a plan has made room for."""
    return HeldRoom(pod, HoldRequest(name, on, (("cpu", cpu),), "", "default-scheduler", seconds, "a"), True)


def taint(name: str, on: str) -> HeldRoom:
    """A node that is closed by our taint."""
    return hold(None, name, on)._replace(is_taint=True)


class Noting:
    """What was asked, in order, as ``did``; ``fails``: calls that raise, by name, so many times. ``pods``: what a
    reading of pods finds; ``lost``: what is told of a renewal; ``unable``: what cannot be had, by name, and why."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        self.did: list[tuple[object, ...]] = []
        self.fails: dict[str, int] = {}
        self.pods: list[Pod] = []
        self.lost: list[str] = []
        self.unable: dict[str, str] = {}

    def _note(self, name: str, *what: object) -> None:
        self.did.append((name, *what))
        if self.fails.get(name):
            self.fails[name] -= 1
            raise ClusterError(f"{name}: connection refused")

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Noted."""
        self._note("hold", *(request.name for request in requests))

    def renew(self, requests: Sequence[HoldRequest]) -> list[str]:
        """Noted."""
        self._note("renew", *(request.name for request in requests))
        return self.lost

    def release(self, names: Sequence[str]) -> None:
        """Noted."""
        self._note("release", *names)

    def taint(self, nodes: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Noted."""
        self._note("taint", *nodes, plan_id, deadline_seconds)

    def untaint(self, nodes: Sequence[str]) -> None:
        """Noted."""
        self._note("untaint", *nodes)

    def gate_replacements(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Noted."""
        self._note("gate", *owners, plan_id, deadline_seconds)

    def ungate(self, pod: PodReference) -> bool:
        """Noted."""
        self._note("ungate", pod.name)
        return any(found.uid == pod.uid for found in self.pods)

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """Those of a namespace, whatever the selector."""
        self._note("read", namespace)
        return [pod for pod in self.pods if pod.namespace == namespace]

    def can_hold(self) -> str | None:
        """As told."""
        return self.unable.get("hold")

    def can_taint(self) -> str | None:
        """As told."""
        return self.unable.get("taint")

    def can_gate(self) -> str | None:
        """As told."""
        return self.unable.get("gate")
