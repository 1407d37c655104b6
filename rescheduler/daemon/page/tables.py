"""Everything else that the page shows, as tables that a click opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rescheduler.daemon.page.answers import called, hindrance_told, why_pending
from rescheduler.daemon.page.budgets_left import BudgetLeft
from rescheduler.daemon.page.hindrances import hindrances
from rescheduler.daemon.page.outlook import Outlook, brief, lasting, utc, withheld
from rescheduler.model.daemon.round_digest import RoundDigest
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, PODS
from rescheduler.model.plan.move_change import AT_REST, MoveState
from rescheduler.model.plan.plan import Plan
from rescheduler.report.cells import plural
from rescheduler.report.html.daemon_page import Listed
from rescheduler.report.plan.headline import headlines
from rescheduler.report.plan.nodes import NodeUse, in_one_unit, uses_of

MOST_UNDER_WAY = 100


def tables(outlook: Outlook, budgets: Sequence[BudgetLeft] | None) -> list[Listed]:
    """In the order in which one reads on."""
    return [
        _hindrances(outlook),
        _plan(outlook),
        _nodes(outlook),
        _under_way(outlook),
        _pending(outlook),
        _rounds(outlook),
        _evictions(outlook),
        _refusals(outlook),
        _budgets(outlook, budgets),
        _trust(outlook),
        _replicas(outlook),
        _faults(outlook),
    ]


def _hidden(name: str, title: str, right: str) -> Listed:
    return Listed(name, title, (), (), notes=[withheld(right)])


def _hindrances(outlook: Outlook) -> Listed:
    """All that holds it back, of which the answer tells what fits."""
    found = hindrances(outlook)
    rows = [(hindrance_told(outlook, one), " or ".join(one.commands)) for one in found[: outlook.most]]
    return Listed("held", "What holds it back", ("What", "Command"), rows, len(found) - len(rows), "Nothing.")


def _plan(outlook: Outlook) -> Listed:
    """The moves of the plan that waits, or of the newest one."""
    title, plan, waiting = "The newest plan, move by move", outlook.plan, outlook.state.approvals.proposal
    if not outlook.rights.plans:
        return _hidden("plan", title, "plans")
    if plan is None:
        return Listed("plan", title, (), (), none="No plan was made yet.")
    report = outlook.planned
    number = waiting.plan_id if waiting is not None else "" if report is None else report.plan_id
    notes = [f"Plan {number or 'without a number'}: {plural(len(plan.moves), 'move')}."]
    notes += [brief(f"{status} {words}".strip(), 400) for status, words in headlines(plan)][: outlook.most]
    stage_of = outlook.state.moves
    rows = [
        (
            str(move.wave), brief(move.pod.key), brief(move.from_node), brief(move.to_node), move.method.value,
            brief(move.reason), stage.value if (stage := stage_of.get(move.pod)) is not None else "", move.objective,
        )
        for move in plan.moves[: outlook.most]
    ]  # fmt: skip
    headings = ("Wave", "Pod", "From", "To", "By", "Why", "State", "Objective")
    return Listed("plan", title, headings, rows, len(plan.moves) - len(rows), notes=notes)


def _nodes(outlook: Outlook) -> Listed:
    """The nodes that the newest plan touches, before and after it: as long as it was not carried out."""
    title, plan, cluster = "Nodes before and after that plan", outlook.plan, outlook.state.cluster
    if not outlook.rights.plans:
        return _hidden("nodes", title, "plans")
    if plan is None or cluster is None:
        return Listed("nodes", title, (), (), none="There is nothing to compare yet.")
    if _is_carried_out(outlook):
        return Listed("nodes", title, (), (), none="It was carried out: the cluster is as it is after it.")
    uses = uses_of(plan, cluster)
    rows = [(brief(use.node.name), *map(_change, *_shown(use))) for use in uses[: outlook.most]]
    headings = ("Node", "Pods", "CPU requests", "Memory requests")
    return Listed("nodes", title, headings, rows, len(uses) - len(rows), none="It touches no node.")


def _is_carried_out(outlook: Outlook) -> bool:
    report = outlook.planned
    return outlook.state.approvals.proposal is None and report is not None and report.result is not None


def _shown(use: NodeUse) -> tuple[list[str], list[str], list[str]]:
    """Before, after and what the node offers, of pods, CPU and memory."""
    names = (PODS, CPU, MEMORY)
    before, after = ([in_one_unit(name, amounts.get(name, 0)) for name in names] for amounts in (use.before, use.after))
    return before, after, [in_one_unit(name, use.offered.get(name, 0)) for name in names]


def _change(before: str, after: str, offered: str) -> str:
    return f"{before} of {offered}" if before == after else f"{before} to {after} of {offered}"


def _under_way(outlook: Outlook) -> Listed:
    title, moves = "Moves under way, by state", outlook.state.moves
    if not outlook.rights.rounds:
        return _hidden("moves", title, "rounds")
    counts = [f"{number} {stage.value}" for stage, number in outlook.state.moves_by_state.items() if number]
    moving = [(pod, stage) for pod, stage in moves.items() if stage not in AT_REST or stage is MoveState.FAILED]
    rows = [(brief(pod.key), stage.value) for pod, stage in moving[:MOST_UNDER_WAY]]
    notes = [f"Run {brief(outlook.state.run_id, 60)}: {', '.join(counts)}."] if counts else []
    none = "Nothing is being carried out."
    return Listed("moves", title, ("Pod", "State"), rows, len(moving) - len(rows), none, notes)


def _pending(outlook: Outlook) -> Listed:
    title, cluster = "Pods without a node", outlook.state.cluster
    if not outlook.rights.refusals:
        return _hidden("pending", title, "refusals")
    pods = () if cluster is None else cluster.pending_pods
    rows = []
    for pod in pods[: outlook.most]:
        since = pod.unscheduled_at or pod.created_at
        waits = "" if since is None else lasting(outlook.now - since)
        rows.append((brief(pod.key), waits, why_pending(outlook, pod.key, pod.unscheduled)))
    headings = ("Pod", "Waits for", "Why")
    return Listed("pending", f"{title}: {len(pods)}", headings, rows, len(pods) - len(rows), none="No pod waits.")


def _rounds(outlook: Outlook) -> Listed:
    title, past = "Rounds, the newest first", outlook.state.past
    if not outlook.rights.rounds:
        return _hidden("rounds", title, "rounds")
    rows = [_round(one) for one in list(reversed(past))[: outlook.most]]
    headings = ("Round", "When", "By", "Helped", "Emptied", "Evicted", "Refused", "Outcome")
    return Listed("rounds", title, headings, rows, len(past) - len(rows), "No round has run yet.")


def _round(one: RoundDigest) -> tuple[str, ...]:
    helped = f"{one.placed if one.is_carried_out else one.helped} of {one.wanted}" if one.wanted else ""
    evicted = f"{one.evicted} of {one.planned}" if one.is_carried_out else f"0 of {one.planned}" if one.planned else ""
    rules = ", ".join(f"{rule} {number}" for rule, number in one.refused[:4])
    more = ", ..." if len(one.refused) > 4 else ""
    refused = f"{one.refused_in_all}: {rules}{more}" if one.refused_in_all else ""
    by = f"; approved by {brief(one.approved_by, 80)}" if one.approved_by else ""
    outcome = brief(one.reason) if one.reason else "carried out" if one.is_carried_out else "nothing to do"
    return (
        str(one.number), f"{utc(one.started_at)}, {lasting(one.ended_at - one.started_at)}",
        brief(", ".join(one.triggers), 80), helped, str(one.emptied or ""), evicted, refused, f"{outcome}{by}",
    )  # fmt: skip


def _evictions(outlook: Outlook) -> Listed:
    """What the ledger holds: over restarts, and of whichever replica led."""
    title, sent = "Evictions in the ledger, the newest first", outlook.sent
    if not outlook.rights.rounds:
        return _hidden("evictions", title, "rounds")
    rows = [
        (
            utc(one.at), brief(one.pod.key), brief(one.from_node), brief(one.landed_on or ""),
            one.state.value, brief(one.failure or one.message or one.reason),
        )
        for one in sent[: outlook.most]
    ]  # fmt: skip
    headings = ("When", "Pod", "From", "Landed on", "State", "Why")
    return Listed("evictions", title, headings, rows, len(sent) - len(rows), "The ledger holds none.")


def _refusals(outlook: Outlook) -> Listed:
    """What the newest plan left alone, by rule, with an example."""
    title, plan = "What the newest plan left alone, by rule", outlook.plan
    if not outlook.rights.refusals:
        return _hidden("refusals", title, "refusals")
    rows = list(_by_rule(plan)) if plan is not None else []
    shown = rows[: outlook.most]
    return Listed("refusals", title, ("Rule", "Refused", "For example"), shown, len(rows) - len(shown), "Nothing.")


def _by_rule(plan: Plan) -> Iterator[tuple[str, str, str]]:
    counts = Counter(refusal.rule for refusal in plan.refusals)
    example = {refusal.rule: refusal.message for refusal in reversed(plan.refusals)}
    for rule, number in counts.most_common():
        yield brief(rule, 80), str(number), brief(example[rule])


def _budgets(outlook: Outlook, budgets: Sequence[BudgetLeft] | None) -> Listed:
    """Who may not list refusals learns no names of workloads here either."""
    title, limits = "Budgets in force, the least left first", outlook.basis.policy.limits
    known = [one for one in budgets or () if outlook.rights.refusals or not one.instance]
    rows = [
        (called(one), "" if one.left is None else str(one.left), brief(one.used), brief(one.closed) or "open")
        for one in known[: outlook.most]
    ]
    notes = [f"limits.maxEvictions: {limits.max_evictions} in one plan"]
    return Listed("budgets", title, ("Budget", "Left", "Used", "State"), rows, len(known) - len(rows), notes=notes)


def _trust(outlook: Outlook) -> Listed:
    title, trust = "Nodes whose load is not believed", outlook.basis.trust
    if trust is None:
        return Listed("trust", title, (), (), none="Nothing is measured.")
    doubted = [(name, one) for name, one in trust.by_node.items() if not one.is_usable]
    rows = [(brief(name), one.state.value, brief(one.reason)) for name, one in doubted[: outlook.most]]
    return Listed("trust", title, ("Node", "State", "Why"), rows, len(doubted) - len(rows), "The load of each is.")


def _replicas(outlook: Outlook) -> Listed:
    state = outlook.state
    told = "This replica leads." if state.is_leader else "This replica looks on; only the one that leads obeys."
    who = f"Leader: {brief(state.holder)}." if state.holder else "Nobody else is known to lead."
    started = f"Started {outlook.at(state.started_at)}, version {brief(state.version, 40) or 'unknown'}."
    title, headings, found = "Replicas: who leads, who waits", ("Pod", "Node", "Ready", "Part"), _beside(outlook)
    if not outlook.rights.refusals:
        return Listed("replicas", title, (), (), notes=[told, who, started, f"Others: {withheld('refusals')}"])
    rows = [
        (
            brief(pod.name, 80),
            brief(pod.node_name or "none yet", 80),
            "yes" if pod.is_ready else "no",
            _part(outlook, pod),
        )
        for pod in found[: outlook.most]
    ]
    alone = "Others are not known: this one is no pod of the cluster."
    return Listed("replicas", title, headings, rows, len(found) - len(rows), alone, [told, who, started])


def _beside(outlook: Outlook) -> list[Pod]:
    """Pods of the workload that ours belongs to, ours among them; none where we are no pod."""
    cluster, own = outlook.state.cluster, outlook.basis.selection.own
    ours = None if cluster is None or not own.pod else cluster.pod_by_key.get(f"{own.namespace}/{own.pod}")
    if cluster is None or ours is None:
        return []
    workload = cluster.workload_of(ours)
    near = [pod for pod in cluster.pods if pod.namespace == own.namespace]
    found = [pod for pod in near if pod is ours or (workload is not None and cluster.workload_of(pod) == workload)]
    return sorted(found, key=lambda pod: pod.name)


def _part(outlook: Outlook, pod: Pod) -> str:
    """Holders are called by their machine, which is the pod, with a process and a number behind."""
    state = outlook.state
    is_ours = pod.name == outlook.basis.selection.own.pod
    leads = state.is_leader if is_ours else state.holder.startswith(f"{pod.name}_")
    return "leads" if leads else "waits"


def _faults(outlook: Outlook) -> Listed:
    faults = list(reversed(outlook.state.faults))
    rows = [(outlook.at(one.at), brief(one.where, 60), brief(one.message)) for one in faults[: outlook.most]]
    return Listed("faults", "Faults that were survived", ("When", "Where", "What"), rows, len(faults) - len(rows))
