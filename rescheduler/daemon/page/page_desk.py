"""Makes the page: once a second at most for all who may see the same, and never above a megabyte."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rescheduler.daemon.page.answers import answers
from rescheduler.daemon.page.budgets_left import BudgetLeft, budgets_left, least_first, rates_left
from rescheduler.daemon.page.outlook import Outlook, PageBasis, Rights, brief, utc, withheld
from rescheduler.daemon.page.tables import tables
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.people import tag_of
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.ledger import EMPTY_LEDGER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.report.html.daemon_page import Buttons, DaemonView, daemon_page

LARGEST_BYTES: Final = 1_000_000
PAGE_SECONDS: Final = 1.0
MOST_ROWS: Final = (200, 80, 30, 10)
"""Rows of a table, and fewer where texts are so long that the page would be too large."""


class _Kept(NamedTuple):
    state: DaemonState
    made_at: float
    page: str


class PageDesk:
    """Asked from any thread; one page is made at a time, and who asks meanwhile gets the same."""

    def __init__(
        self, read_state: Callable[[], DaemonState], read_basis: Callable[[], PageBasis], clock: Clock
    ) -> None:
        self._read_state = read_state
        self._read_basis = read_basis
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[Rights, _Kept] = {}
        self._count = BudgetCount(clock)

    def page(self, rights: Rights) -> str:
        """The page for whoever has these rights."""
        with self._lock:
            now, state = self._clock.monotonic(), self._read_state()
            kept = self._kept.get(rights)
            if kept is not None and _is_alike(kept.state, state) and 0 <= now - kept.made_at < PAGE_SECONDS:
                return kept.page
            text = self._made(state, rights)
            self._kept[rights] = _Kept(state, now, text)
            return text

    def _made(self, state: DaemonState, rights: Rights) -> str:
        outlook = Outlook(state, self._read_basis(), rights, self._clock.now())
        budgets, text = self._budgets(outlook), ""
        for most in MOST_ROWS:
            text = daemon_page(view_of(replace(outlook, most=most), budgets))
            if len(text) <= LARGEST_BYTES:
                break
        return text

    def _budgets(self, outlook: Outlook) -> list[BudgetLeft] | None:
        """None where those that look at pods are not counted yet."""
        cluster, basis = outlook.state.cluster, outlook.basis
        counted = None if cluster is None else self._count.latest(cluster, basis)
        if counted is None:
            return None
        return least_first([*rates_left(basis.policy, outlook.ledger, outlook.now), *counted])


def _is_alike(before: DaemonState, now: DaemonState) -> bool:
    """Whether what a person may have pressed is unchanged; the rest may be a second old."""
    return before.switch == now.switch and before.approvals is now.approvals


def view_of(outlook: Outlook, budgets: list[BudgetLeft] | None) -> DaemonView:
    """Everything in words."""
    state = outlook.state
    return DaemonView(
        title="rescheduler",
        made_at=utc(outlook.now),
        facts=_facts(outlook),
        answers=answers(outlook, budgets),
        controls=_controls(outlook, state),
        tables=tables(outlook, budgets),
    )


_MODES: Final = {
    "DryRun": "DryRun: evicts nothing",
    "Approve": "Approve: evicts after a person's yes",
    "Execute": "Execute: evicts by itself",
}


def _facts(outlook: Outlook) -> list[tuple[str, str]]:
    state, cluster = outlook.state, outlook.state.cluster
    seen = (
        "not known yet" if cluster is None
        else f"{len(cluster.nodes)} nodes, {len(cluster.pods)} pods, {len(cluster.pending_pods)} pending, "
        f"as of {outlook.at(cluster.taken_at or None)}"
    )  # fmt: skip
    policy = f"{brief(state.policy_name, 60) or 'none loaded yet'} ({brief(state.policy_id, 20)})"
    leads = "this replica leads" if state.is_leader else f"{brief(state.holder, 80) or 'nobody known'} leads"
    mode = _MODES.get(state.mode, brief(state.mode, 20) or "not known yet")
    return [("Mode", mode), ("Policy", policy), ("Leader", leads), ("Cluster", seen)]


def _controls(outlook: Outlook, state: DaemonState) -> Buttons:
    """Only one that leads obeys, so that only its page has buttons."""
    rights, waiting, notes = outlook.rights, state.approvals.proposal, []
    if not state.is_leader:
        return Buttons(notes=[f"Only the replica that leads obeys: {brief(state.holder, 80) or 'nobody is known to'}."])
    is_paused = state.switch.pause is not None
    plan = waiting.plan_id if waiting is not None and waiting.approval is None and rights.approve else ""
    if rights.narrowed:
        notes.append("Opened by rescheduler ui, which only reads unless --allow approve,pause is given.")
    elif not rights.switch:
        notes.append(f"Pause and Resume: {withheld('switch')}")
    if waiting is not None and waiting.approval is None and not rights.approve and not rights.narrowed:
        notes.append(f"Approve: {withheld('approve')}")
    if waiting is None:
        notes.append("No plan waits for a yes.")
    return Buttons(
        may_pause=rights.switch and not is_paused,
        may_resume=rights.switch and is_paused,
        switch_tag=state.switch.tag,
        plan=plan,
        plan_tag=tag_of(waiting, plan) if plan else "",
        notes=notes,
    )


SHORTEST_SECONDS: Final = 5.0
COST_OF_COUNTING: Final = 0.05
"""The share of a processor that it may take, at most, while somebody looks at the page."""
PATIENCE_SECONDS: Final = 0.3
"""How long a page waits for a count; a small cluster's is there by then."""


class _Counted(NamedTuple):
    """``good_until``: on the clock that never jumps."""

    budgets: Sequence[BudgetLeft]
    good_until: float


class BudgetCount:
    """The newest count of a daemon's budgets. Asked from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._newest: _Counted | None = None
        self._worker: threading.Thread | None = None

    def latest(self, cluster: Cluster, basis: PageBasis) -> Sequence[BudgetLeft] | None:
        """What was counted last, a little old; None where nothing was yet."""
        with self._lock:
            newest, worker = self._newest, self._worker
            if worker is None and (newest is None or self._clock.monotonic() >= newest.good_until):
                worker = threading.Thread(target=self._count, args=(cluster, basis), name="page-budgets", daemon=True)
                self._worker = worker
                worker.start()
        if worker is not None:
            worker.join(PATIENCE_SECONDS)
        newest = self._newest
        return None if newest is None else newest.budgets

    def _count(self, cluster: Cluster, basis: PageBasis) -> None:
        began = self._clock.monotonic()
        try:
            found = budgets_left(cluster, basis.policy, basis.selection, basis.ledger or EMPTY_LEDGER)
            now = self._clock.monotonic()
            rest = max(SHORTEST_SECONDS, (now - began) / COST_OF_COUNTING)
            self._newest = _Counted(found, now + rest)
        finally:
            with self._lock:
                self._worker = None
