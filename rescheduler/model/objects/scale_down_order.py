"""Which of its pods a ReplicaSet deletes when it has too many: the order of kube-controller-manager. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cmp_to_key, partial
from typing import Final

from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.objects.pod import Pod

_PHASES: Final = ("Pending", "Unknown", "Running")


def first_to_go(pods: Sequence[Pod], count: int, company: Iterable[Pod], now: float) -> list[Pod]:
    """So many of a ReplicaSet's active pods, those first that its controller deletes first at a time.

    Without a node before with one, Pending before Running, unready before ready, the lower deletion cost; then the more
    ``company`` on its node, the later ready, the more restarts, the later made. Ages differ only where their logarithms
    to base 2 do, in whole numbers; where these are equal the lower uid goes. Of pods alike in all, the first given.

    ``company``: active pods of all ReplicaSets of its Deployment, its own among them. One that nobody controls has
    none: its controller does not look where its pods stand.
    """
    on_node = Counter(pod.node_name for pod in company)
    order = partial(_compared, on_node, now)
    return sorted(pods, key=cmp_to_key(order))[: max(0, count)]


def _compared(on_node: Counter[str | None], now: float, one: Pod, other: Pod) -> int:
    """Below 0 where the first one goes first, 0 where nothing tells them apart."""
    first, second = _state(one, on_node), _state(other, on_node)
    if first != second:
        return -1 if first < second else 1
    by_readiness = _by_age(one, other, _ready_since(one), _ready_since(other), now) if one.is_ready else 0
    by_restarts = other.restart_count - one.restart_count
    return by_readiness or by_restarts or _by_age(one, other, one.created_at, other.created_at, now)


def _state(pod: Pod, on_node: Counter[str | None]) -> tuple[bool, int, bool, int, int]:
    phase = _PHASES.index(pod.phase) if pod.phase in _PHASES else 0
    return pod.node_name is not None, phase, pod.is_ready, _cost(pod), -on_node[pod.node_name]


def _ready_since(pod: Pod) -> float | None:
    """A ready pod that does not tell since when was so since it was made."""
    return pod.created_at if pod.ready_at is None else pod.ready_at


def _by_age(one: Pod, other: Pod, since: float | None, others: float | None, now: float) -> int:
    if since == others:
        return 0
    if since is None or others is None:
        return -1 if since is None else 1
    apart = _magnitude(now - since) - _magnitude(now - others)
    return apart or (-1 if one.uid < other.uid else 1)


def _magnitude(seconds: float) -> int:
    """The logarithm of an age to base 2, as the controller has it: of nanoseconds, rounded down, -1 for none."""
    return max(0, int(seconds * 1e9)).bit_length() - 1


def _cost(pod: Pod) -> int:
    try:
        return int(pod.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0
