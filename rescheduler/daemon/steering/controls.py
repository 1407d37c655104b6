"""The bridge between the daemon's loop and whoever steers it: what was asked, whether to pause, what was approved.

The loop's side stands here, the side of people in ``people.py``; both may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rescheduler.daemon.steering.approvals import UNKNOWN_MARK, Approval, Approvals, Notices, Proposal
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.daemon.steering.people import Acknowledge, AskObjection, People, no_objection, nothing_held
from rescheduler.daemon.steering.state_store import Changed, StateStore
from rescheduler.extension_points import Clock, Listener, ReschedulerError
from rescheduler.model.daemon.notices import Fault, LeadershipChanged, Notice, PolicyLoaded
from rescheduler.model.daemon.round_digest import RoundDigest
from rescheduler.model.daemon.rounds import RoundRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan

MARK_SECONDS: Final = 5.0
"""How often the annotation is looked at while a plan waits."""
EXPIRES_SECONDS: Final = 3600.0


class Controls(Listener):
    """Hears all notices. ``people``: what servers call. ``wake``: set when the loop is asked for something."""

    def __init__(
        self,
        clock: Clock,
        hear: Callable[[Notice], None],
        *,
        expires: Callable[[], float] = lambda: EXPIRES_SECONDS,
        read_mark: Callable[[], str] = lambda: "",
        objection: AskObjection = no_objection,
        acknowledge: Acknowledge = nothing_held,
        is_elected: bool = False,
        inbox: Inbox | None = None,
    ) -> None:
        """``hear`` takes what is to be told; this object may be among those that hear it.

        ``expires``: how long plans wait, seconds. ``read_mark``: a live read of the annotation that approves a plan, ""
        where there is none; raises ReschedulerError. ``objection``: what forbids carrying a plan out now.
        ``acknowledge``: takes the number of a held policy, and who. ``is_elected``: we do not lead before it is told
        that we do. ``inbox``: of the loop; by default of the thread that makes this.
        """
        self._clock = clock
        self._tell = hear
        self._expires = expires
        self._read_mark = read_mark
        self._mark_due = 0.0
        self._mark_problem = ""
        self._store = StateStore(clock, hear, DaemonState(is_leader=not is_elected))
        self.inbox = Inbox() if inbox is None else inbox
        self.people = People(self._store, clock, objection=objection, acknowledge=acknowledge, inbox=self.inbox)
        self.wake = self.people.wake

    def hear(self, notice: Notice) -> None:
        """Remember what is told; a plan made under another policy, or by a leader that was, waits no longer."""

        def step(state: DaemonState, now: float) -> Changed[None]:
            after = state.after(notice)
            told: Notices = ()
            if isinstance(notice, PolicyLoaded) and notice.policy_id != state.policy_id:
                after, told = _ended(after, now, "another policy is in force")
            elif isinstance(notice, LeadershipChanged) and not notice.is_leader:
                after, told = _ended(after, now, "this rescheduler does not lead any more")
            return after, told, None

        self._store.change(step)

    def state(self) -> DaemonState:
        """How everything stands now."""
        return self._store.seen()

    def publish(self, cluster: Cluster) -> None:
        """Show the newest snapshot."""
        self._store.change(lambda state, _: (replace(state, cluster=cluster), (), None))

    def remember(self, past: tuple[RoundDigest, ...]) -> None:
        """Rounds of the process before, the newest last; before any of our own has ended."""
        self._store.change(lambda state, _: (replace(state, past=past), (), None))

    def take_requests(self) -> tuple[RoundRequest, ...]:
        """What was asked for since the last call."""
        return self.people.take_requests()

    def paused(self) -> str | None:
        """Why nothing may be carried out; None where nobody has paused, or the pause has run out."""
        pause = self._store.seen().switch.pause
        return None if pause is None else str(pause)

    def propose(self, plan_id: str, plan: Plan, now: float) -> None:
        """Let a plan wait for a person; one with the same moves, or an approved one, goes on in its place."""
        mark = self._mark()

        def step(state: DaemonState, _: float) -> Changed[None]:
            known = UNKNOWN_MARK if mark is None else mark
            approvals, told = state.approvals.propose(plan_id, plan, now, self._expires(), known)
            return _with(state, approvals), told, None

        self._store.change(step)

    def proposal(self) -> Proposal | None:
        """The plan that waits, or that was approved and is about to be carried out."""
        return self._store.seen().approvals.proposal

    def approved(self, plan_id: str) -> Approval | None:
        """Who has said yes to the plan that waits under this number."""
        proposal = self.proposal()
        return proposal.approval if proposal is not None and proposal.plan_id == plan_id else None

    def approved_plan(self) -> tuple[str, Plan, str] | None:
        """Number, plan and who approved it, to be carried out now; handed out once, and only while we lead."""
        self._look_at_mark()

        def step(state: DaemonState, now: float) -> Changed[Proposal | None]:
            if not state.is_leader:
                return state, (), None
            approvals, taken, told = state.approvals.take(now)
            return _with(state, approvals), told, taken

        taken = self._store.change(step)
        if taken is None or taken.approval is None:
            return None
        return taken.plan_id, taken.plan, taken.approval.who

    def _look_at_mark(self) -> None:
        """See now and then whether the annotation approves the plan that waits."""
        state, now = self._store.seen(), self._clock.monotonic()
        proposal = state.approvals.proposal
        if proposal is None or proposal.approval is not None or not state.is_leader or now < self._mark_due:
            return
        self._mark_due = now + MARK_SECONDS
        mark = self._mark()

        def step(state: DaemonState, now: float) -> Changed[None]:
            if mark is None or not state.is_leader:
                return state, (), None
            approvals, told = state.approvals.marked(mark, now)
            return _with(state, approvals), told, None

        self._store.change(step)

    def _mark(self) -> str | None:
        """The annotation as it stands; None where it cannot be read."""
        try:
            found = self._read_mark()
        except ReschedulerError as error:
            problem = f"the annotation cannot be read: {error}"
            if problem != self._mark_problem:
                self._mark_problem = problem
                self._tell(Fault(self._clock.now(), "approval", problem))
            return None
        self._mark_problem = ""
        return found


def _with(state: DaemonState, approvals: Approvals) -> DaemonState:
    return replace(state, approvals=approvals)


def _ended(state: DaemonState, now: float, reason: str) -> tuple[DaemonState, Notices]:
    approvals, told = state.approvals.end(now, reason)
    return _with(state, approvals), told
