"""What a daemon tells in tests: a plan, a round, and one notice of each kind."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from rescheduler.model.daemon.ledger import Nomination
from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    CapacityRequested,
    DefaultsBind,
    EvictionNoted,
    Fault,
    LeadershipChanged,
    MoveChanged,
    NodesOffered,
    NominationsFound,
    Notice,
    ObjectsSetAside,
    Paused,
    PolicyAcknowledged,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    Resumed,
    RoundEnded,
    ServerLacks,
    Started,
    Stopping,
    SyncChanged,
    TriggerFired,
)
from rescheduler.model.daemon.rounds import Occasion, RoundReport
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    ObjectiveResult,
    OutcomeKind,
    Plan,
    PlannedPlacement,
    PlanResult,
    PodReference,
    Refusal,
    SnapshotSummary,
    Status,
)
from tests.builders import NOW
from tests.unit.execution.entries import entry

WEB = PodReference("default", "web-0", "uid-default-web-0")
BIG = PodReference("default", "big-0", "uid-default-big-0")
SUMMARY = SnapshotSummary(None, 3, 9, 1, "test")
MOVE = Move(WEB, "n1", "n2", 1, "MakeRoom", "makes room for default/big-0")


class Heard(list[Notice]):
    """A listener, or the ``tell`` of one, that keeps what it hears."""

    def hear(self, notice: Notice) -> None:
        """Keep it."""
        self.append(notice)

    def __call__(self, notice: Notice) -> None:
        """Keep it."""
        self.append(notice)

    @property
    def faults(self) -> list[str]:
        """``where: message`` of each fault."""
        return [f"{notice.where}: {notice.message}" for notice in self if isinstance(notice, Fault)]


def objective(name: str = "MakeRoom", **fields: Any) -> ObjectiveResult:
    """One pending pod helped by one eviction, proven best."""
    defaults: dict[str, Any] = {
        "status": Status.OPTIMAL, "value": 1, "bound": 1, "gap": 0.0, "unit": "evictions", "seconds": 0.1,
        "helped": 1 if name == "MakeRoom" else UNSET, "wanted": 1 if name == "MakeRoom" else UNSET,
    }  # fmt: skip
    return ObjectiveResult(name=name, **{**defaults, **fields})


def plan(**fields: Any) -> Plan:
    """``web-0`` moves from n1 to n2, which makes room for ``big-0`` on n1."""
    defaults: dict[str, Any] = {
        "objectives": (objective(),),
        "moves": (MOVE,),
        "placements": (PlannedPlacement(BIG, "n1", 1),),
        "refusals": (Refusal("Namespace", "kube-system/dns is excluded", pod=PodReference("kube-system", "dns")),),
    }
    return Plan(SUMMARY, **{**defaults, **fields})


def result(outcome: OutcomeKind = OutcomeKind.LANDED) -> PlanResult:
    """What became of that plan."""
    moved = MoveOutcome(WEB, "n1", "n2", 1, "MakeRoom", "makes room", outcome=outcome, landed_on="n2")
    return PlanResult(SUMMARY, moves=(moved,))


def report(mode: str = "Execute", **fields: Any) -> RoundReport:
    """A round of 2.5 seconds that a schedule asked for, and whose plan was carried out whole unless said otherwise."""
    defaults: dict[str, Any] = {
        "number": 7, "occasions": (Occasion("Schedule", "every 5m", NOW),), "started_at": NOW, "ended_at": NOW + 2.5,
        "policy_id": "abcdefabcdef", "plan_id": "p-7", "plan": plan(),
        "result": result() if mode == "Execute" else None,
        "reason": "" if mode == "Execute" else f"the policy's mode is {mode}",
        "seconds": {"look": 0.5, "plan": 1.0, "carryOut": 1.0},
    }  # fmt: skip
    return RoundReport(mode=mode, **{**defaults, **fields})


def dry_round() -> RoundEnded:
    """A round of a dry run that has a plan."""
    return RoundEnded(NOW + 2.5, report("DryRun"))


def all_notices() -> tuple[Notice, ...]:
    """One of each kind."""
    return (
        Started(NOW, "1.2.3", "Execute", "abcdefabcdef"),
        PolicyLoaded(NOW, "abcdefabcdef", "nightly", "Execute"),
        TriggerFired(NOW, Occasion("PendingPods", "1 pod waits for 30s", NOW, pods=(BIG,), nodes=("n1",))),
        RoundEnded(NOW + 2.5, report()),
        EvictionNoted(NOW, entry()),
        MoveChanged(NOW, "r-1", MoveChange("", BIG, MoveState.BOUND, "n1", "n2", "n2")),
        LeadershipChanged(NOW, True, "pod-a", "the lease was free"),
        DefaultsBind(NOW, "abcdefabcdef", ("scope.minimumAge: pods younger than 5m stay",)),
        ServerLacks(NOW, "abcdefabcdef", ("v1.34.4: it has no MutatingAdmissionPolicy",)),
        PolicyKept(NOW, "abcdefabcdef", "p.yaml:3: not YAML"),
        PolicyHeld(NOW, "abcdefabcdef", "fedcbafedcba", ("+412 pods in 3 namespaces",)),
        PolicyAcknowledged(NOW, "fedcbafedcba", "jane"),
        ApprovalWanted(NOW, "p-7", plan(), NOW + 3600),
        ApprovalGiven(NOW, "p-7", "jane", "REST"),
        ApprovalEnded(NOW, "p-7", "it has expired"),
        Paused(NOW, "jane", "maintenance", NOW + 600),
        Resumed(NOW, "jane"),
        CapacityRequested(NOW, "ProvisioningRequest", (BIG,), "one more node"),
        NodesOffered(NOW, "Annotate", ("n1", "n2")),
        SyncChanged(NOW, "Pod", False, "the watch was cut off"),
        ObjectsSetAside(NOW, (SetAside("Pod", "team", "huge", "u", "spec: is out of range", "it is left out"),)),
        NominationsFound(NOW, (Nomination(BIG, "n1", NOW - 90, NOW - 1, "r-1"),), ()),
        Fault(NOW, "loop", "RuntimeError"),
        Stopping(NOW, "SIGTERM"),
    )
