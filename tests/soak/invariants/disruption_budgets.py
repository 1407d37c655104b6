"""I3: PodDisruptionBudgets, as we were shown them and as they truly were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.workload_floor import SNAPSHOT_SECONDS, UNSEEN_SECONDS
from tests.soak.trace import Effect, Event, Request, Violation, WorldEvent
from tests.soak.world.truth import Truth


class DisruptionBudgets(Checker):
    """I3. View: the newest snapshot of the process. Truth: the floor itself, when the eviction takes effect."""

    name = "I3"
    sentence = (
        "No real eviction is sent if the matching PDB, as shown last, has disruptionsAllowed - own open debts in it < "
        "1, or observedGeneration < generation, or fewer Ready pods than its status says, or more than one PDB "
        "matches, or a PDB of that namespace has an unreadable selector. And no accepted eviction leaves a PDB below "
        "its floor in truth, unless it changed or lost a pod within 5 s before the send."
    )
    interests = (Request, Effect, WorldEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._changed: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """The view at the send, the truth at the effect."""
        if isinstance(event, WorldEvent):
            if event.kind.startswith("budget"):
                self._changed[event.object] = event.t
            return ()
        if isinstance(event, Request) and event.is_eviction:
            return self._sent(self.history.send_of(event))
        if isinstance(event, Effect) and event.request.is_eviction:
            return list(self._took_effect(self.history.send_of(event.request), truth))
        return ()

    def _sent(self, send: Send) -> Sequence[Violation]:
        snapshot = self.history.snapshots.get(send.request.process)
        pod = None if snapshot is None else snapshot.shown.pod_by_key.get(send.key)
        if snapshot is None or pod is None or pod.uid != send.request.uid or send.in_gap:
            return ()
        why = self._objection(pod, snapshot.shown, snapshot.as_of, send)
        return self.violated(send.t, f"{send.key} was sent though {why}") if why else ()

    def _objection(self, pod: Pod, shown: Cluster, as_of: float, send: Send) -> str | None:
        here = [budget for budget in shown.budgets if budget.namespace == pod.namespace]
        unreadable = [budget.name for budget in here if is_unreadable(budget)]
        matching = [budget for budget in here if _is_readable(budget.selector) and selects(budget.selector, pod.labels)]
        if unreadable or matching:
            self.bites()
        if unreadable:
            return f"the selector of {unreadable[0]} cannot be read"
        if len(matching) > 1:
            return f"{len(matching)} budgets cover it"
        for budget in matching:
            return self._allowed_none(budget, pod, shown, as_of, send)
        return None

    def _allowed_none(self, budget: DisruptionBudget, pod: Pod, shown: Cluster, as_of: float, send: Send) -> str | None:
        if budget.observed_generation < budget.generation:
            return f"{budget.key} was not observed yet"
        if not pod.is_ready:
            return None
        ready = sum(
            _stands(other) and selects(budget.selector, other.labels)
            for other in shown.pods
            if other.namespace == budget.namespace and other.name not in budget.disrupted_pods
        )
        unseen = [
            other
            for other in self.history.debts()
            if other is not send and other.pod is not None and other.pod.namespace == budget.namespace
            and selects(budget.selector, other.pod.labels) and other.pod.name not in budget.disrupted_pods
            and (seen := shown.pod_by_key.get(other.key)) is not None and seen.uid == other.request.uid
            and _stands(seen)
        ]  # fmt: skip
        left = min(budget.disruptions_allowed, ready - budget.desired_healthy) - len(unseen)
        if left < 1:
            return (
                f"{budget.key} left {left} (allowed {budget.disruptions_allowed}, ready {ready}, desired "
                f"{budget.desired_healthy}, sent since {len(unseen)}; as of {as_of:.1f})"
            )
        return None

    def _took_effect(self, send: Send, truth: Truth) -> Iterator[Violation]:
        if send.pod is None or not send.pod.is_ready or send.pod.is_terminating or send.in_gap:
            return
        for budget in truth.budgets_of(send.pod):
            count = truth.recount(budget)
            changed = self._changed.get(budget.key, float("-inf"))
            self.bites()
            lost = self.history.losses.since(send.workload, send.t - UNSEEN_SECONDS)
            if count.healthy + lost < count.desired and changed < send.t - SNAPSHOT_SECONDS:
                yield from self.violated(
                    send.effect_at or send.t,
                    f"{send.key} (sent at {send.t:.1f}) left {count.healthy} healthy of the {count.desired} that "
                    f"{budget.key} wants",
                )


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether a budget's selector covers these labels; none covers nobody, an empty one everybody."""
    return selector is not None and all(
        {
            "In": labels.get(rule.key) in rule.values,
            "NotIn": labels.get(rule.key) not in rule.values,
            "Exists": rule.key in labels,
            "DoesNotExist": rule.key not in labels,
        }.get(rule.operator, False)
        for rule in selector.requirements
    )


def is_unreadable(budget: DisruptionBudget) -> bool:
    """Whether nobody can say whom a budget covers; one without any selector and without a problem covers nobody."""
    return budget.problem is not None if budget.selector is None else not _is_readable(budget.selector)


def _is_readable(selector: LabelSelector | None) -> bool:
    known = ("In", "NotIn", "Exists", "DoesNotExist")
    return selector is not None and all(rule.operator in known for rule in selector.requirements)


def _stands(pod: Pod) -> bool:
    return pod.is_ready and pod.node_name is not None and pod.deletion_at is None and not pod.is_finished
