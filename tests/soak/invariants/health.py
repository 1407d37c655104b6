"""I17: when much is wrong, nothing is moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.policy.fields.daemon.safety import Health
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.repayment import desired_of, zone_of
from tests.soak.trace import Answer, Event, NodeChanged, ProcessEvent, Request, Violation
from tests.soak.world.truth import Truth

FREEZE_SECONDS = 30.0
SLACK_SECONDS = 5.0


class HealthFreeze(Checker):
    """I17. Of a long freeze (``calm``) only what a snapshot of the same process showed is held against it."""

    name = "I17"
    sentence = (
        "No eviction sent later than 30 s after any of: unready nodes > max(2, 5 %) or >= 20 % in one zone; nodes "
        "appeared or vanished > 10 % within health.settle; API errors > 5 % over 1 min; clock offset > 30 s; no "
        "replacement created 60 s after an eviction. Thaw after health.calm."
    )
    interests = (NodeChanged, ProcessEvent, Answer, Request)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._bad_since: dict[str, float] = {}
        self._changes: list[tuple[float, str]] = []
        self._started: dict[str, float] = {}
        self._offsets: dict[str, float] = {}
        self._offset_since: dict[str, float] = {}
        self._shown_bad: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """The state of the nodes, and sends."""
        if isinstance(event, NodeChanged):
            node = event.new or event.old
            if node is not None and (event.new is None or event.old is None):
                self._changes.append((event.t, node.name))
            self._look(truth)
        elif isinstance(event, ProcessEvent):
            self._process(event)
        elif isinstance(event, Answer):
            self._shown(event)
        elif isinstance(event, Request) and event.is_eviction:
            send = self.history.send_of(event)
            policy = self.history.policies.get(event.process)
            if policy is not None and not send.in_gap:
                whys = self._objections(send, policy.health, truth)
                return [found for why in whys for found in self.violated(send.t, f"{send.key} was sent though {why}")]
        return ()

    def _look(self, truth: Truth) -> None:
        """Since when each count has been bad, by the figures of every policy alike."""
        rules = next((policy.health for policy in self.history.policies.values()), Health())
        found = set(unwell(truth.nodes, rules))
        self._bad_since = {why: self._bad_since.get(why, truth.t) for why in found}

    def _process(self, event: ProcessEvent) -> None:
        if event.kind == "start":
            self._started[event.process] = event.t
            self._shown_bad.pop(event.process, None)
        elif event.kind == "wall-clock":
            self._offsets[event.process] = self._offsets.get(event.process, 0.0) + _number(event.detail)
            self._offset_since[event.process] = event.t

    def _shown(self, event: Answer) -> None:
        policy = self.history.policies.get(event.request.process)
        if policy is None or not isinstance(event.shown, Cluster):  # an answer that was lost shows nothing
            return
        if any(unwell(event.shown.node_by_name, policy.health)):
            self._shown_bad[event.request.process] = event.t

    def _objections(self, send: Send, rules: Health, truth: Truth) -> Iterator[str]:
        now = send.t
        self.bites(bool(self._bad_since))
        for why in unwell(truth.nodes, rules):
            since = self._bad_since.get(why, now)
            if now - since > FREEZE_SECONDS:
                yield f"{why} since {now - since:.0f} s"
        shown = self._shown_bad.get(send.request.process)
        if rules.calm and shown is not None:
            self.bites()
            if now - shown < rules.calm - SLACK_SECONDS:
                yield f"a snapshot showed too many unready nodes {now - shown:.0f} s before"
        yield from self._changed(send, rules, truth)
        yield from self._clock(send, rules)
        yield from self._not_replaced(send, rules, truth)

    def _changed(self, send: Send, rules: Health, truth: Truth) -> Iterator[str]:
        """Nodes that came or went, but those that went before the process looked for the first time."""
        started = self._started.get(send.request.process, 0.0)
        window = [
            (t, name)
            for t, name in self._changes
            if send.t - rules.settle + SLACK_SECONDS < t < send.t - FREEZE_SECONDS
            and (name in truth.nodes or t > started + FREEZE_SECONDS)
        ]
        changed = {name for _, name in window}
        total = max(len(truth.nodes), 1)
        self.bites(bool(changed))
        if rules.settle and rules.changed_nodes and len(changed) > rules.changed_nodes * (total + len(changed)):
            yield f"{len(changed)} of {total} nodes came or went within {rules.settle:.0f} s"

    def _clock(self, send: Send, rules: Health) -> Iterator[str]:
        process = send.request.process
        offset, since = self._offsets.get(process, 0.0), self._offset_since.get(process, send.t)
        if not offset:
            return
        self.bites()
        if rules.clock_offset and abs(offset) > rules.clock_offset + SLACK_SECONDS and send.t - since > FREEZE_SECONDS:
            yield f"the clock of {process} is {offset:.0f} s off since {send.t - since:.0f} s"

    def _not_replaced(self, send: Send, rules: Health, truth: Truth) -> Iterator[str]:
        for debt in self.history.debts():
            waited = send.t - (debt.effect_at or send.t)
            if debt is send or not rules.replaced_within or waited < rules.replaced_within + FREEZE_SECONDS:
                continue
            if truth.pod_of_uid(debt.request.namespace, debt.request.name, debt.request.uid) is not None:
                continue
            members = [pod for pod in truth.members(debt.workload) if not pod.is_terminating and not pod.is_finished]
            since = truth.epoch(debt.t) - 1.0
            is_made = any((pod.created_at or 0.0) >= since for pod in members)
            self.bites()
            if not is_made and len(members) < desired_of(truth, debt.workload):
                yield f"nothing was made in place of {debt.key}, evicted {waited:.0f} s before"


def unwell(nodes: Mapping[str, Node], rules: Health) -> Iterator[str]:
    """What is wrong with the nodes as a whole."""
    counted = [node for node in nodes.values() if node.labels.get("type") != "virtual-kubelet"]
    unready = sum(not node.is_ready for node in counted)
    if rules.unready_nodes and unready > max(2, rules.unready_nodes * len(counted)):
        yield "too many nodes were not ready"
    for zone in sorted({zone_of(node) for node in counted} - {""}):
        here = [node for node in counted if zone_of(node) == zone]
        down = sum(not node.is_ready for node in here)
        if rules.unready_in_zone and down and down >= rules.unready_in_zone * len(here):
            yield f"too many nodes of zone {zone} were not ready"


def _number(text: str) -> float:
    try:
        return float(text.split()[0])
    except (ValueError, IndexError):
        return 0.0
