"""The ten questions of a person on call, each with a word and a few sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rescheduler.daemon.page.budgets_left import BudgetLeft
from rescheduler.daemon.page.hindrances import Hindrance, hindrances
from rescheduler.daemon.page.outlook import Outlook, brief, withheld
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.annotations import STOP
from rescheduler.model.plan.attempts import is_as_planned
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.move_change import AT_REST
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.trust import TrustState
from rescheduler.report.cells import plural
from rescheduler.report.html.daemon_page import OnCallAnswer
from rescheduler.report.plan.headline import achievement
from rescheduler.report.plan.price import cost_told

FEW = 3
LONGEST_LIST = 160
"""Letters of what an answer lists: on a phone, too, all ten are to stand on two screens under the longest names."""
LONGEST_HINDRANCES = 380


def answers(outlook: Outlook, budgets: Sequence[BudgetLeft] | None) -> list[OnCallAnswer]:
    """All ten, what is urgent first. ``budgets``: None where they are not counted yet."""
    return [
        _stuck(outlook),
        _stopping(outlook),
        _next(outlook),
        _moved(outlook),
        _affected(outlook),
        _waiting(outlook),
        _approved(outlook),
        _load(outlook),
        _used_up(budgets),
        _promise(outlook),
    ]


def _stuck(outlook: Outlook) -> OnCallAnswer:
    name, question, state = "stuck", "Is it stuck?", outlook.state
    found = hindrances(outlook)
    if state.started_at is None and not state.rounds:
        return OnCallAnswer(name, question, "It is starting", ["Nothing was decided yet."])
    if not found:
        if not state.is_leader:
            leads = f"{brief(state.holder)} leads" if state.holder else "nobody is known to lead"
            return OnCallAnswer(name, question, "No, it waits", [f"{leads}; this replica looks on."])
        last = state.past[-1] if state.past else None
        told = "No round has run yet." if last is None else f"The last round ended {outlook.at(last.ended_at)}."
        trial = "The circuit breaker is open, and has rested: one eviction is tried, whose fate decides."
        on_trial = outlook.ledger.breaker.opened_at is not None
        return OnCallAnswer(name, question, "No", [told, *([trial] if on_trial else [])], tone="good")
    word = "Held back on purpose" if all(one.is_meant for one in found) else "Yes, it is frozen"
    sentences = fitting([hindrance_told(outlook, one) for one in found], LONGEST_HINDRANCES)
    commands = dict.fromkeys(command for one in found[: len(sentences)] for command in one.commands)
    sentences += [f"and {len(found) - len(sentences)} more, listed below"] if len(found) > len(sentences) else []
    return OnCallAnswer(name, question, word, sentences, list(commands), tone="bad")


def hindrance_told(outlook: Outlook, one: Hindrance) -> str:
    """What stands in the way, and since when."""
    since = "" if one.since is None else f", since {outlook.at(one.since)}"
    return f"{one.why[:1].upper()}{one.why[1:]}{since}."


def fitting(texts: Iterable[str], longest: int = LONGEST_LIST) -> list[str]:
    """The first few, as many as fit; one at least."""
    kept: list[str] = []
    for text in texts:
        if kept and (len(kept) == FEW or sum(map(len, kept)) + len(text) > longest):
            break
        kept.append(text)
    return kept


def _stopping(outlook: Outlook) -> OnCallAnswer:
    name, question, policy = "stop", "How to stop it", outlook.basis.policy
    command = f'kubectl annotate namespace {policy.hold.namespace} {STOP}="REASON"'
    pause = outlook.state.switch.pause
    if pause is not None:
        return OnCallAnswer(name, question, "It is paused", [f"{brief(str(pause))}. Resume lets it go on."], [command])
    press = "Press Pause above." if outlook.rights.switch else withheld("switch")
    press = "Run rescheduler ui with --allow pause." if outlook.rights.narrowed and not outlook.rights.switch else press
    return OnCallAnswer(
        name, question, "Pause, or the kill switch", [f"{press} The kill switch outlasts restarts:"], [command]
    )


def _next(outlook: Outlook) -> OnCallAnswer:
    name, question, state, mode = "next", "What will it do next?", outlook.state, outlook.state.mode
    if not outlook.rights.plans:
        return OnCallAnswer(name, question, "Not shown", [withheld("plans")])
    triggers = ", ".join(dict.fromkeys(trigger.name for trigger in outlook.basis.policy.triggers)) or "nothing"
    waiting = state.approvals.proposal
    if waiting is not None:
        word = "Carry out" if waiting.approval is not None else "Wait for a person"
        until = f"Plan {waiting.plan_id} waits until {outlook.at(waiting.expires_at)}."
        return OnCallAnswer(name, question, word, [until, *_worth(waiting.plan)])
    if any(stage not in AT_REST for stage in state.moves.values()):
        counts = ", ".join(f"{number} {stage.value}" for stage, number in state.moves_by_state.items() if number)
        return OnCallAnswer(name, question, "Go on with a plan", [f"Moves: {counts}."])
    plan = outlook.plan
    worth = ["No plan was made yet."] if plan is None else ["Its newest plan: " + "; ".join(_worth(plan))]
    nothing = "Nothing: DryRun evicts nothing" if mode == "DryRun" else f"Wait for {triggers}"
    return OnCallAnswer(name, question, nothing, [*worth, *_reason(outlook)])


def _reason(outlook: Outlook) -> list[str]:
    report = outlook.planned
    return [f"Not carried out: {brief(report.reason)}."] if report is not None and report.reason else []


def _worth(plan: Plan) -> list[str]:
    """What a plan gains and costs."""
    gains = [achievement(objective) for objective in plan.objectives[:FEW]]
    told = f"{plural(len(plan.moves), 'eviction')} for {', '.join(gains) or 'nothing'}"
    return [told, cost_told(plan.cost)] if isinstance(plan.cost, Cost) else [told]


def _moved(outlook: Outlook) -> OnCallAnswer:
    name, question, sent = "moved", "What moved in the last hour?", outlook.sent_lately
    if not outlook.rights.rounds:
        return OnCallAnswer(name, question, "Not shown", [withheld("rounds")])
    if outlook.basis.ledger is None and not outlook.ledger.entries:
        return OnCallAnswer(name, question, "Not known", ["The ledger was not read yet."])
    if not sent:
        newest = f"The newest eviction: {outlook.at(outlook.sent[0].at)}." if outlook.sent else ""
        return OnCallAnswer(name, question, "Nothing", [newest] if newest else [])
    open_, failed = sum(one.is_debt for one in sent), sum(one.state is EntryState.FAILED for one in sent)
    counts = f"{len(sent) - open_ - failed} replaced, {open_} on the way, {failed} failed"
    first = "; ".join(fitting(f"{brief(one.pod.key, 80)} from {brief(one.from_node, 60)}" for one in sent))
    return OnCallAnswer(name, question, plural(len(sent), "pod"), [counts, first], tone="bad" if failed else "")


def _affected(outlook: Outlook) -> OnCallAnswer:
    name, question = "affected", "Who is affected?"
    if not outlook.rights.rounds:
        return OnCallAnswer(name, question, "Not shown", [withheld("rounds")])
    debts = outlook.ledger.debts
    entries = {one.number: one for one in (*outlook.sent_lately, *debts)}.values()
    touched = Counter(map(_owner, entries))
    if not touched:
        return OnCallAnswer(name, question, "Nobody", ["Nothing moved in the last hour, and nothing is missing."])
    spaces = len({one.pod.namespace for one in entries})
    word = f"{plural(len(touched), 'workload')} in {plural(spaces, 'namespace')}"
    missing = f"{plural(len(debts), 'pod')} not replaced yet" if debts else "every pod is replaced"
    return OnCallAnswer(name, question, word, [missing, ", ".join(fitting(key for key, _ in touched.most_common(FEW)))])


def _owner(entry: LedgerEntry) -> str:
    return brief(entry.workload_key or entry.pod.key, 80)


def _waiting(outlook: Outlook) -> OnCallAnswer:
    name, question, cluster = "waiting", "Why is a pod still waiting?", outlook.state.cluster
    if cluster is None:
        return OnCallAnswer(name, question, "Not known", ["The cluster is not known yet."])
    pods = cluster.pending_pods
    if not pods:
        return OnCallAnswer(name, question, "No pod waits", tone="good")
    if not outlook.rights.refusals:
        return OnCallAnswer(name, question, plural(len(pods), "pod"), [withheld("refusals")])
    lines = fitting(f"{brief(pod.key, 80)}: {why_pending(outlook, pod.key, pod.unscheduled)}" for pod in pods)
    command = f"kubectl reschedule explain pod {brief(pods[0].key, 120)}"
    return OnCallAnswer(name, question, f"{plural(len(pods), 'pod')} without a node", lines, [command])


def why_pending(outlook: Outlook, key: str, unscheduled: str) -> str:
    """Why a pod waits: by the plan, or in the scheduler's word."""
    place, refusal = outlook.placement_of.get(key), outlook.refusal_of.get(key)
    if place is not None:
        return f"the plan gives it {brief(place.node, 80)}"
    if refusal is not None:
        return brief(f"{refusal.rule}: {refusal.message}")
    return f"{brief(unscheduled, 40) or 'not scheduled yet'}; no plan helps it"


def _approved(outlook: Outlook) -> OnCallAnswer:
    name, question, state = "approved", "Who approved?", outlook.state
    if not outlook.rights.plans:
        return OnCallAnswer(name, question, "Not shown", [withheld("plans")])
    given = state.approvals.given
    if given:
        last = given[-1]
        return OnCallAnswer(
            name, question, brief(last.who), [f"Plan {last.plan_id} by {last.how}, {outlook.at(last.at)}."]
        )
    before = next((one for one in reversed(state.past) if one.approved_by), None)
    if before is not None:
        told = f"Plan {brief(before.plan_id, 60)}, carried out {outlook.at(before.started_at)}."
        return OnCallAnswer(name, question, brief(before.approved_by), [told])
    if state.mode == "Approve":
        return OnCallAnswer(
            name, question, "Nobody yet", ["Under mode Approve nothing is evicted before somebody does."]
        )
    return OnCallAnswer(name, question, "Nobody", [f"Mode {brief(state.mode or 'unknown')} asks nobody."])


def _load(outlook: Outlook) -> OnCallAnswer:
    name, question, trust = "load", "Can its load data be believed?", outlook.basis.trust
    if trust is None:
        return OnCallAnswer(
            name, question, "Nothing is measured", ["Requests stand in for load; no usage provider is set."]
        )
    counts = Counter(one.state for one in trust.by_node.values())
    told = ", ".join(f"{counts[state]} {state.value}" for state in TrustState if counts[state]) or "no node is measured"
    age = outlook.basis.load_age
    newest = "No sample yet." if age is None else f"The newest sample is {age:.0f}s old."
    if trust.freeze:
        return OnCallAnswer(name, question, "No", [brief(trust.freeze), told, newest], tone="bad")
    believed = sum(one.is_usable for one in trust.by_node.values())
    word = "Yes" if believed == len(trust.by_node) and believed else f"Of {believed} of {len(trust.by_node)} nodes"
    return OnCallAnswer(name, question, word, [told, newest])


def _used_up(budgets: Sequence[BudgetLeft] | None) -> OnCallAnswer:
    name, question = "budgets", "Which budget is used up?"
    if budgets is None:
        return OnCallAnswer(name, question, "Not known", ["They are being counted, or the cluster is not known yet."])
    closed = [one for one in budgets if one.closed]
    if not closed:
        least = next((one for one in budgets if one.left is not None), None)
        told = (
            "No budget limits anything."
            if least is None
            else f"The least is left of {called(one=least)}: {least.used}."
        )
        return OnCallAnswer(name, question, "None", [told], tone="good")
    lines = fitting(f"{called(one)}: {one.closed}, {one.used}" for one in closed)
    return OnCallAnswer(name, question, plural(len(closed), "budget"), lines, tone="bad")


def called(one: BudgetLeft) -> str:
    """A budget by the name that policy and API have for it."""
    return brief(f"{one.name} of {one.instance}" if one.instance else one.name, 120)


def _promise_before(outlook: Outlook) -> OnCallAnswer:
    """The same of a plan that was carried out before this process began, by what is remembered in short."""
    name, question = "promise", "Did the last plan keep its promise?"
    past = next((one for one in reversed(outlook.state.past) if one.is_carried_out), None)
    if past is None:
        return OnCallAnswer(name, question, "No plan was carried out", ["since this replica started."])
    told = f"{past.landed} of {plural(past.planned, 'move')} landed, {past.placed} of {past.helped} places taken"
    when = f"Plan {brief(past.plan_id, 60)}, {outlook.at(past.ended_at)}, before this replica started."
    is_kept = not past.reason and past.landed == past.planned and past.placed == past.helped
    sentences = [told, when, brief(past.reason)] if past.reason else [told, when]
    return OnCallAnswer(name, question, "Yes" if is_kept else "No", sentences, tone="good" if is_kept else "bad")


def _promise(outlook: Outlook) -> OnCallAnswer:
    name, question, report = "promise", "Did the last plan keep its promise?", outlook.carried_out
    if not outlook.rights.rounds:
        return OnCallAnswer(name, question, "Not shown", [withheld("rounds")])
    if report is None or report.result is None:
        return _promise_before(outlook)
    result = report.result
    landed = sum(move.outcome.has_landed for move in result.moves)
    placed = sum(place.outcome.has_landed for place in result.placements)
    told = f"{landed} of {plural(len(result.moves), 'move')} landed, {placed} of {len(result.placements)} places taken"
    when = f"Plan {report.plan_id}, {outlook.at(report.ended_at)}."
    is_kept = is_as_planned(result)
    reason = [brief(report.reason)] if report.reason else []
    return OnCallAnswer(
        name, question, "Yes" if is_kept else "No", [told, when, *reason], tone="good" if is_kept else "bad"
    )
