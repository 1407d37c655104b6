"""What triggers look at in tests; times are seconds after NOW, when the process starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rescheduler.daemon.triggers import make_triggers
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PlanResult, SnapshotSummary
from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster

PLAN = Plan(SnapshotSummary(taken_at=None, nodes=0, pods=0, pending_pods=0, source="test"))


def trigger(name: str, seed: int = 0, policy: Policy | None = None, **args: Any) -> Trigger:
    """The trigger of a policy that has only this one; ``args`` as files have them."""
    entry = TriggerEntry(name=name, args=args)
    (made,) = make_triggers((policy or Policy()).model_copy(update={"triggers": (entry,)}), seed, NOW)
    return made


def sight(at: float, *objects: Any, notices: Any = (), requests: Any = (), usage: Any = None, **fields: Any) -> Sight:
    """What there is to see ``at`` seconds after NOW."""
    seen = cluster(*objects, **{"taken_at": NOW + at, **fields})
    return Sight(seen, usage, tuple(notices), tuple(requests))


def report(began: float, ended: float, occasions: Iterable[Occasion] = (), **fields: Any) -> RoundReport:
    """A round that carried nothing out."""
    return RoundReport(1, tuple(occasions), NOW + began, NOW + ended, "Execute", "id", plan=PLAN, **fields)


def carried_out(began: float, ended: float) -> RoundReport:
    """A round that carried its plan out."""
    return report(began, ended, result=PlanResult(snapshot=PLAN.snapshot))


def firings(
    asked: Trigger,
    seen: Callable[[float], Cluster],
    until: float,
    changes: Iterable[float] = (),
    round_seconds: float | None = 1.0,
) -> list[tuple[float, Occasion]]:
    """When the trigger asks from NOW on, looked at as a daemon does: at each change, and when it wants to be.

    Each time a round that changes nothing follows, and takes ``round_seconds`` (None: no round follows).
    """
    found = []
    at, pending = 0.0, sorted(changes)
    while at <= until:
        occasion = asked.look(Sight(seen(at)))
        if occasion is not None:
            found.append((at, occasion))
            if round_seconds is not None:
                asked.answered(report(at, at + round_seconds, [occasion]))
                at += round_seconds
                continue
        pending = [change for change in pending if change > at]
        wake = asked.wake_at(NOW + at)
        times = [*pending[:1], *([] if wake is None else [max(wake - NOW, at + 1e-3)])]
        if not times:
            break
        at = min(times)
    return found
