"""Nodes that stay above their target, and why nothing more is done about each."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import NOWHERE
from rescheduler.model.disruption import Eligibility
from rescheduler.model.plan import Refusal
from rescheduler.planning.improvement.board import SAME, Board
from rescheduler.planning.question import Question
from rescheduler.planning.spread_load.state import LoadState
from rescheduler.planning.spread_load.telling import Telling

MOST_EXPLAINED = 50


def hot_nodes_that_stay(question: Question, board: Board, state: LoadState) -> tuple[Refusal, ...]:
    """One refusal for each node above its target, the hottest first, at most MOST_EXPLAINED."""
    over = state.over().sum(axis=0)
    hot = np.flatnonzero(over > 0)
    order = hot[np.lexsort((hot, -over[hot]))]
    telling = Telling(board.problem.columns.cluster, state.load)
    found = []
    for node in order[:MOST_EXPLAINED].tolist():
        rule, why = _why(question, board, state, node)
        name = board.problem.columns.cluster.nodes[node].name
        found.append(Refusal(rule=rule, message=f"{name} stays at {telling.use_of(node, state)}: {why}", node=name))
    return tuple(found)


def _why(question: Question, board: Board, state: LoadState, node: int) -> tuple[str, str]:
    """Rule and words: the fate of the pod that would help most."""
    rows = np.flatnonzero((board.node_of == node) & (state.hopes() > SAME))
    rows = rows[[int(row) not in board.moved for row in rows.tolist()]] if len(rows) else rows
    if not len(rows):
        return _immovable(board, state, question.eligibility, node)
    if board.limits.in_all < len(board.moved) + 1:
        return "limits.maxEvictions", "no eviction is left"
    able = [row for row in rows.tolist() if board.may_leave(row)]
    if not able:
        if board.leaves_left(node) <= 0:
            return "limits.maxEvictionsPerNode", "no eviction from this node is left"
        return "limits.maxEvictionsPerNamespace", "no eviction is left for the namespaces of its pods"
    row = max(able, key=lambda row: (state.relief(row), -row))
    rule, why = _obstacle(board, state, row)
    if rule == "Deadline" and not question.is_guided_by_holds:
        rule, why = "Guidance", "would be sent elsewhere, or back, by the scheduler, and nothing is held"
    return rule, f"{board.problem.columns.cluster.pods[board.pod(row)].key}, which would help most, {why}"


def _obstacle(board: Board, state: LoadState, row: int) -> tuple[str, str]:
    mask = board.problem.static_mask(board.pod(row))[1].copy()
    mask[board.node_of[row]] = False
    if not mask.any():
        return "NoOtherNode", "may run on no other node"
    roomy = board.roomy(row)
    if not roomy.any():
        return "NoRoom", "finds no other node with room for what it requests"
    nodes = board.open_to(row)
    if not nodes.any():
        return "NoOtherNode", "is kept off every node with room by other pods' places or by an earlier objective"
    change = state.change(row)[nodes]
    if not np.isfinite(change).any():
        return "NoCoolNode", "would bring every node with room above its target"
    if not (change < -SAME).any():
        return "NoGain", "gains nothing by moving"
    if (change + board.fee(row) >= -SAME).all():
        return "moveCost", "gains less by moving than the move costs"
    return "Deadline", "was not reached in the time given, or found no order in which it could move"


def _immovable(board: Board, state: LoadState, eligibility: Eligibility, node: int) -> tuple[str, str]:
    """Why the pod that uses most of what there is too much of must stay."""
    load, columns = state.load, board.problem.columns
    here = np.flatnonzero(board.placement.node_of == node)
    is_over = state.over()[:, node] > 0
    share = (load.of_pods[:, here] / load.unit[:, None])[is_over].sum(axis=0)
    if not len(here) or share.max(initial=0.0) <= 0:
        return "NoPods", "what it uses is not used by its pods"
    pod = int(here[int(np.argmax(share))])
    if pod in eligibility.refusals:
        return eligibility.refusals[pod].rule, eligibility.refusals[pod].message
    for group in eligibility.groups:
        if group.allowed_per_wave <= 0 and pod in group.pods:
            key = columns.cluster.pods[pod].key
            return group.rule, f"{key} belongs to {group.rule} {group.name}, which allows no disruption now"
    initial = columns.initial_node_of[pod]
    if initial == NOWHERE or board.placement.node_of[pod] != initial:
        return "MovedAlready", f"{columns.cluster.pods[pod].key} goes there by this plan, and a pod moves once only"
    return "Eligibility", f"{columns.cluster.pods[pod].key}, which uses most of it, may not be moved"
