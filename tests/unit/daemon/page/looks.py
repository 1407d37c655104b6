"""Looks at a daemon for tests of its page: its state, what it goes by, and pages of every size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import Any

from rescheduler.daemon.page.budgets_left import BudgetLeft, budgets_left, least_first, rates_left
from rescheduler.daemon.page.outlook import Outlook, PageBasis, Rights
from rescheduler.daemon.page.page_desk import PageDesk, view_of
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.daemon.notices import Notice, PolicyLoaded, RoundEnded, Started
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Refusal
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.html.daemon_page import Listed, OnCallAnswer
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.daemon.plans import plan, reference, report, result

ALL = Rights(rounds=True, plans=True, refusals=True, switch=True, approve=True)
VIEWER = Rights(rounds=True, plans=True, refusals=True)
SMALL = cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n2"), pod("big"))


def state(*notices: Notice, mode: str = "Execute", seen: Cluster | None = SMALL, **fields: Any) -> DaemonState:
    """A daemon that has started and was told this."""
    found = DaemonState(cluster=seen, **fields)
    for notice in (Started(NOW - 3600, "1.0", mode, "p1"), PolicyLoaded(NOW - 3600, "p1", "quiet", mode), *notices):
        found = found.after(notice)
    return found


def entry(number: int, name: str, ago: float = 60.0, **fields: Any) -> LedgerEntry:
    """An eviction so many seconds ago, of a pod of workload ``default/web``, whose replacement works."""
    given = {"state": EntryState.REPAID, "workload_key": "default/web", "landed_on": "n2", **fields}
    return LedgerEntry(number, 1, reference(name), "n1", "n2", NOW - ago, **given)


def ledger(*entries: LedgerEntry, **fields: Any) -> Ledger:
    """A ledger with these."""
    return Ledger(entries=entries, next_entry=len(entries) + 1, **fields)


def look(
    found: DaemonState | None = None, *, rights: Rights = ALL, policy: Policy | None = None, **basis: Any
) -> Outlook:
    """A look at a daemon, by default at one that has done nothing yet."""
    return Outlook(found or state(), PageBasis(policy or Policy(), **basis), rights, NOW)


def counted(outlook: Outlook) -> list[BudgetLeft]:
    """The budgets of a look's snapshot."""
    seen, basis = outlook.state.cluster, outlook.basis
    assert seen is not None
    found = budgets_left(seen, basis.policy, basis.selection, outlook.ledger)
    return least_first([*rates_left(basis.policy, outlook.ledger, outlook.now), *found])


def answer(outlook: Outlook, name: str) -> OnCallAnswer:
    """One of the ten answers."""
    return next(one for one in view_of(outlook, counted(outlook)).answers if one.name == name)


def listed(outlook: Outlook, name: str) -> Listed:
    """One of the tables."""
    return next(one for one in view_of(outlook, counted(outlook)).tables if one.name == name)


def words(one: OnCallAnswer) -> str:
    """All that an answer says."""
    return " ".join((one.word, *one.sentences, *one.commands))


def shown(page: str) -> str:
    """The text of a page without its marks, script and style."""
    body = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", body))


def desk(found: DaemonState, clock: FakeClock | None = None, *, policy: Policy | None = None, **basis: Any) -> PageDesk:
    """What makes pages of a state that does not change."""
    given = PageBasis(policy or Policy(), **basis)
    return PageDesk(lambda: found, lambda: given, clock or FakeClock())


def rounds(numbers: Iterable[int], text: str = "why") -> list[RoundEnded]:
    """Rounds of which each was carried out, with refusals of several rules."""
    found = []
    for number in numbers:
        refusals = tuple(Refusal(f"Rule{at}", f"{text} {at}", pod=reference(f"p{at}")) for at in range(8))
        made = plan(f"a-{number}", reason=text, refusals=refusals)
        done = report(number, plan_id=f"plan-{number}", plan=made, result=result(made), reason="", policy_id="p1")
        found.append(RoundEnded(NOW, done))
    return found


def large(text: str = "no room: 5000 nodes looked at", nodes: int = 5000, pods: int = 150_000) -> DaemonState:
    """Five thousand nodes, 150,000 pods of which 500 wait, 200 rounds, the last with 20,000 refusals."""
    placed = [
        pod(f"web-{at}", node=f"node-{at % nodes}", namespace=f"team-{at % 50}", owner=f"web-{at % 500}")
        for at in range(pods - 500)
    ]
    waiting = [pod(f"big-{at}", "16") for at in range(500)]
    seen = cluster(*(node(f"node-{at}", "64") for at in range(nodes)), *placed, *waiting)
    last = tuple(Refusal(f"Rule{at % 40}", text, pod=reference(f"big-{at}")) for at in range(20_000))
    made = plan(*(f"web-{at}" for at in range(3000)), reason=text, refusals=last)
    ended = RoundEnded(NOW, report(201, plan_id="last", plan=made, reason=text))
    return state(*rounds(range(1, 201), text), ended, seen=seen)
