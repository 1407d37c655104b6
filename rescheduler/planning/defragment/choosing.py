"""Chooses options and seats together: the integer program in the terms of nodes and pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.usage import FloatArray
from rescheduler.planning.defragment.kinds import Kinds
from rescheduler.planning.defragment.options import Option, Options
from rescheduler.planning.defragment.situation import Seat
from rescheduler.planning.fitting import fits
from rescheduler.planning.remaining_limits import UNLIMITED
from rescheduler.planning.solvers.option_model import OptionChoice

_MOST_SEATS = 2_000
_LEAST_SEATS = 4  # of one kind


def chosen_seats(
    options: Options, kinds: Kinds, offered: Sequence[Option], profit: FloatArray, seconds: float, most_branches: int
) -> list[Seat]:
    """Who goes where by the best choice of the options offered, each worth its ``profit`` (float64[O])."""
    uses = np.zeros((len(offered), sum(len(option.rows) for option in offered)), dtype=np.int64)
    for number, option in enumerate(offered):
        for row in option.rows:
            uses[number, kinds.of(row)] += 1
    uses = uses[:, : len(kinds)]
    if not len(kinds):
        return []
    used = np.flatnonzero(uses.any(axis=0))
    kind, node = _possible_seats(options, kinds, offered, used)
    scale = np.maximum(1, options.situation.columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    spaces = np.flatnonzero(np.stack(kinds.request).any(axis=0))
    choice = OptionChoice(
        node=np.array([option.node for option in offered], dtype=np.int64),
        profit=profit,
        moves=uses.sum(axis=1),
        uses=uses,
        slack=(np.stack([option.slack for option in offered]) / scale)[:, spaces],
        spare=(options.slack.T / scale)[:, spaces],
        seat_kind=kind,
        seat_node=node,
        seat_most=np.where(np.array(kinds.is_alone)[kind], 1, min(options.most_moves, UNLIMITED)),
        request=(np.stack(kinds.request) / scale)[:, spaces],
        **_namespace_limits(options, kinds),
        most_moves=options.most_moves,
    )
    taken, seated = choice.choose(seconds, most_branches)
    return _matched(kinds, [offered[number] for number in taken.tolist()], choice, seated)


def _possible_seats(
    options: Options, kinds: Kinds, offered: Sequence[Option], used: IntArray
) -> tuple[IntArray, IntArray]:
    """(kind, node) pairs with room enough, the tightest of each kind where there are too many."""
    most_slack = options.slack.copy()
    for option in offered:
        most_slack[:, option.node] = np.maximum(most_slack[:, option.node], option.slack)
    scale = np.maximum(1, options.situation.columns.allocatable.max(axis=1, initial=1)).astype(np.float64)
    most = max(_LEAST_SEATS, _MOST_SEATS // max(1, len(used)))
    found_kinds, found_nodes = [], []
    for kind in used.tolist():
        request = kinds.request[kind]
        nodes = np.flatnonzero(kinds.open_to[kind] & fits(request, most_slack))
        if len(nodes) > most:
            rest = ((options.slack[:, nodes] - request[:, None]) / scale[:, None]).min(axis=0)
            order = np.lexsort((nodes, rest))
            order = np.concatenate((order[rest[order] >= 0], order[rest[order] < 0]))
            nodes = nodes[np.concatenate((order[: most // 2], order[-(most // 2) :]))]
        found_kinds.append(np.full(len(nodes), kind, dtype=np.int64))
        found_nodes.append(nodes)
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *found_kinds]), np.concatenate([empty, *found_nodes])


def _namespace_limits(options: Options, kinds: Kinds) -> dict[str, IntArray]:
    left = options.left_in_namespace
    bound = np.flatnonzero(left < options.most_moves)
    numbers = np.array(kinds.namespace, dtype=np.int64)
    return {"limit_of": (numbers[None, :] == bound[:, None]).astype(np.int64), "limit": left[bound]}


def _matched(kinds: Kinds, taken: Sequence[Option], choice: OptionChoice, seated: IntArray) -> list[Seat]:
    """Pods of each kind on the seats of that kind; who would go back to its node stays there instead."""
    leaving: dict[int, list[Seat]] = defaultdict(list)
    for option in taken:
        for row in option.rows:
            leaving[kinds.of(row)].append((row, option.node))
    coming: dict[int, list[int]] = defaultdict(list)
    for kind, node, count in zip(choice.seat_kind.tolist(), choice.seat_node.tolist(), seated.tolist(), strict=True):
        coming[kind] += [node] * count
    found: list[Seat] = []
    for kind, pods in sorted(leaving.items()):
        places = coming[kind]
        for row, node in list(pods):
            if node in places:
                places.remove(node)
                pods.remove((row, node))
        found += [(row, place) for (row, _), place in zip(pods, places, strict=False)]
    return found
