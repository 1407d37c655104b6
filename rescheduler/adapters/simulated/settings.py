"""How fast things happen in the simulated cluster, and what does not work there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rescheduler.model.objects.pod import Pod


@dataclass(frozen=True)
class SimulationSettings:
    """Times in seconds, of the order that a small real cluster shows.

    ``termination_seconds`` and ``startup_seconds`` may be functions of the pod; a startup of None means that the pod
    runs but never becomes ready. A pod never terminates later than its own grace period.
    ``budget_lag_seconds`` may be a function too: how late the disruption controller is right now.
    ``pops_from_backoff``: an idle scheduler tries woken pods before their back-off has passed, as kube-scheduler does
    since 1.33. ``cannot_hold``, ``cannot_gate``, ``cannot_taint`` and ``cannot_surge``: the reason why placeholders,
    gates, taints, and taking pods out of their ReplicaSets, do not work here, if they do not.
    ``migration_seconds``: how long a machine takes to move once its new pod is Ready; a function of the pod, None: it
    never does, and its owner gives up after ``migration_patience_seconds``, as where there is no new pod that works by
    then. ``refuses`` and ``troubles`` are asked of each pod that is bound to a node: why its kubelet does not let it in
    (it fails, and its owner makes another), and why its containers never run there.
    """

    api_seconds: float = 0.005
    replacement_seconds: float = 0.025
    termination_seconds: float | Callable[[Pod], float] = 1.0
    startup_seconds: float | Callable[[Pod], float | None] | None = 1.0
    attempt_seconds: float = 0.001
    budget_lag_seconds: float | Callable[[], float] = 0.05
    hold_seconds: float = 0.2
    release_seconds: float = 0.07
    gate_seconds: float = 0.3
    first_backoff_seconds: float = 1.0
    longest_backoff_seconds: float = 10.0
    unschedulable_flush_seconds: float = 300.0
    disrupted_pod_timeout_seconds: float = 120.0
    pops_from_backoff: bool = True
    migration_seconds: float | Callable[[Pod], float | None] | None = 5.0
    migration_patience_seconds: float = 60.0
    hold_namespace: str = "rescheduler-holds"
    cannot_hold: str | None = None
    cannot_gate: str | None = None
    cannot_taint: str | None = None
    cannot_surge: str | None = None

    refuses: Callable[[Pod], str] = lambda _: ""
    troubles: Callable[[Pod], str] = lambda _: ""

    def termination_of(self, pod: Pod) -> float:
        """How long the pod takes to end once its deletion has begun."""
        asked = self.termination_seconds
        seconds = asked(pod) if callable(asked) else asked
        return max(0.0, min(seconds, pod.spec.termination_grace_seconds))

    def migration_of(self, pod: Pod) -> float | None:
        """How long the machine of the pod takes to move; None: it never does."""
        asked = self.migration_seconds
        return asked(pod) if callable(asked) else asked

    def budget_lag(self) -> float:
        """How late the disruption controller comes by for what changes now."""
        asked = self.budget_lag_seconds
        return asked() if callable(asked) else asked

    def startup_of(self, pod: Pod) -> float | None:
        """How long the pod takes from its binding to Ready; None: it never gets there."""
        asked = self.startup_seconds
        return asked(pod) if callable(asked) else asked
