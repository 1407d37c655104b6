"""How a daemon stands by what its notices have told: the one fold of notices, for its API and for its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from msgspec import structs

from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.daemon.notices import (
    EvictionNoted,
    Fault,
    LeadershipChanged,
    MoveChanged,
    Notice,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    RoundEnded,
    Started,
    SyncChanged,
)
from rescheduler.model.daemon.round_digest import RoundDigest, digest_of
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.move_change import MoveState
from rescheduler.model.plan.plan import PodReference

MOST_ROUNDS: Final = 50
WHOLE_ROUNDS: Final = 3
MOST_REFUSALS: Final = 500
"""Of each round before the last three: a large cluster's plan may have ten thousands of them."""
MOST_FAULTS: Final = 50
MOST_EVICTIONS: Final = 500
MOST_PAST: Final = 200
"""Rounds that are remembered in short."""


@dataclass(frozen=True)
class ToldState:
    """Immutable. ``rounds`` and ``faults``: the newest last. ``held``: a policy that waits to be acknowledged.

    ``kept``: why the policy's file cannot be used. ``watches``: the newest word on each kind. ``moves``: how far each
    move has come of the plan that is being carried out, or was last; ``run_id``: of that run. ``past``: rounds in
    short, the newest last, of more than ``rounds`` holds. ``evictions``: the newest word on our own, by the pod's
    uid and when they were announced, as the ledger knows them.
    """

    is_leader: bool = True
    holder: str = ""
    started_at: float | None = None
    version: str = ""
    mode: str = ""
    policy_id: str = ""
    policy_name: str = ""
    held: PolicyHeld | None = None
    kept: PolicyKept | None = None
    rounds: tuple[RoundReport, ...] = ()
    past: tuple[RoundDigest, ...] = ()
    faults: tuple[Fault, ...] = ()
    watches: Mapping[str, SyncChanged] = field(default_factory=dict)
    run_id: str = ""
    moves: Mapping[PodReference, MoveState] = field(default_factory=dict)
    evictions: Mapping[tuple[str, float], LedgerEntry] = field(default_factory=dict)

    def after(self, notice: Notice) -> Self:
        """The same after one more notice; those that change nothing here are passed over."""
        match notice:
            case Started(at=at, version=version, mode=mode, policy_id=policy_id):
                return replace(self, started_at=at, version=version, mode=mode, policy_id=policy_id)
            case RoundEnded():
                past = newest_rounds((*self.past, digest_of(notice.report)))
                return replace(self, rounds=_with(self.rounds, notice.report), past=past)
            case Fault():
                return replace(self, faults=(*self.faults, notice)[-MOST_FAULTS:])
            case LeadershipChanged():
                return replace(self, is_leader=notice.is_leader, holder=notice.holder)
            case PolicyLoaded(policy_id=policy_id, name=name, mode=mode):
                return replace(self, policy_id=policy_id, policy_name=name, mode=mode, held=None, kept=None)
            case PolicyHeld():
                return replace(self, held=notice, kept=None)
            case PolicyKept():
                return replace(self, held=None, kept=notice)
            case MoveChanged(run_id=run_id, change=change):
                before = self.moves if run_id == self.run_id else {}
                return replace(self, run_id=run_id, moves={**before, change.pod: change.state})
            case EvictionNoted(entry=entry):
                known = {**self.evictions, (entry.pod.uid, entry.at): entry}
                newest = sorted(known, key=lambda key: key[1])[-MOST_EVICTIONS:]
                return replace(self, evictions={key: known[key] for key in newest})
            case SyncChanged():
                return replace(self, watches={**self.watches, notice.kind: notice})
        return self

    @property
    def moves_by_state(self) -> Mapping[MoveState, int]:
        """Moves in each state, those without any too."""
        found = Counter(self.moves.values())
        return {state: found[state] for state in MoveState}

    @property
    def out_of_sync(self) -> Mapping[str, str]:
        """Kinds that are not watched, with the reason."""
        return {kind: notice.message for kind, notice in self.watches.items() if not notice.is_synced}

    def round(self, number: int) -> RoundReport | None:
        """One of the last rounds."""
        return next((report for report in self.rounds if report.number == number), None)

    def round_of(self, plan_id: str) -> RoundReport | None:
        """The newest round whose plan has this number."""
        return next((report for report in reversed(self.rounds) if report.plan_id and report.plan_id == plan_id), None)


def newest_rounds(past: tuple[RoundDigest, ...]) -> tuple[RoundDigest, ...]:
    """As many as are remembered in short; the newest that carried a plan out is among them however old it is."""
    kept = past[-MOST_PAST:]
    done = next((one for one in reversed(past) if one.is_carried_out), None)
    return kept if done is None or done in kept else (done, *kept[1:])


def _with(rounds: tuple[RoundReport, ...], report: RoundReport) -> tuple[RoundReport, ...]:
    """One more round; those that are not among the newest any more are shortened."""
    kept = (*rounds, report)[-MOST_ROUNDS:]
    place = len(kept) - WHOLE_ROUNDS - 1
    return kept if place < 0 else (*kept[:place], _shortened(kept[place]), *kept[place + 1 :])


def _shortened(report: RoundReport) -> RoundReport:
    plan, result = report.plan, report.result
    if plan is None or len(plan.refusals) <= MOST_REFUSALS:
        return report
    plan = structs.replace(plan, refusals=plan.refusals[:MOST_REFUSALS])
    if result is not None:
        result = structs.replace(result, refusals=result.refusals[:MOST_REFUSALS])
    return replace(report, plan=plan, result=result)
