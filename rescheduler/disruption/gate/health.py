"""The cluster's health: what makes a daemon keep its hands off, as far as snapshots and given numbers show it. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.plan.plan import EMPTY_NODES, Move, PlannedPlacement
from rescheduler.policy.fields.daemon.safety import Health
from rescheduler.policy.fields.values import format_duration

FEW_NODES: Final = 2
"""So many unready nodes are never too many by their share alone."""


class Finding(NamedTuple):
    """One reason to wait: the field of ``health`` that asks for it, and the words."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.message} (policy: health.{self.field})"


class Sighting(NamedTuple):
    """What is remembered of an earlier snapshot."""

    at: float
    nodes: frozenset[str]
    pending: int


class Signals(NamedTuple):
    """What was observed beside snapshots; None: not observed. Shares are fractions, times seconds."""

    api_error_share: float | None = None
    api_slowest_percent_seconds: float | None = None
    watch_age_seconds: float | None = None
    clock_offset_seconds: float | None = None
    scheduler_silent_seconds: float | None = None


NO_SIGNALS: Final = Signals()


def sighting(cluster: Cluster) -> Sighting:
    """What is worth remembering of a snapshot. Gated pods do not wait for room."""
    pending = sum(not pod.scheduling_gates for pod in cluster.pending_pods)
    return Sighting(cluster.taken_at, frozenset(node.name for node in _counted(cluster)), pending)


def unhealthy(
    cluster: Cluster,
    rules: Health,
    *,
    ledger: Ledger = EMPTY_LEDGER,
    sightings: Sequence[Sighting] = (),
    signals: Signals = NO_SIGNALS,
) -> tuple[Finding, ...]:
    """Everything that speaks against acting now. ``sightings``: earlier ones, oldest first."""
    return (
        *_unready(cluster, rules),
        *_changed(cluster, rules, sightings),
        *_rising(cluster, rules, sightings),
        *_signalled(rules, signals),
        *_not_replaced(cluster, rules, ledger),
    )


def _counted(cluster: Cluster) -> list[Node]:
    return [node for node in cluster.nodes if not node.is_virtual]


def _unready(cluster: Cluster, rules: Health) -> Iterator[Finding]:
    nodes = _counted(cluster)
    unready = sum(not node.is_ready for node in nodes)
    if rules.unready_nodes and unready > max(FEW_NODES, rules.unready_nodes * len(nodes)):
        yield Finding("unreadyNodes", f"{unready} of {len(nodes)} nodes are not ready")
    zones: defaultdict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        zones[node.zone].append(node)
    for zone in sorted(set(zones) - {""}):
        down = sum(not node.is_ready for node in zones[zone])
        if rules.unready_in_zone and down and down >= rules.unready_in_zone * len(zones[zone]):
            yield Finding("unreadyInZone", f"{down} of {len(zones[zone])} nodes of zone {zone} are not ready")


def _changed(cluster: Cluster, rules: Health, sightings: Sequence[Sighting]) -> Iterator[Finding]:
    """Nodes that came or went within ``settle``; one snapshot shows those that came.

    When a node went that was there at a look before that time, nobody knows: it may have been just now.
    """
    if not rules.settle:
        return
    now, names = cluster.taken_at, frozenset(node.name for node in _counted(cluster))
    changed = {
        node.name for node in _counted(cluster) if node.created_at is not None and now - node.created_at < rules.settle
    }
    recent = [seen for seen in sightings if now - seen.at < rules.settle]
    before = sightings[: len(sightings) - len(recent)][-1:]
    changed.update(*(names ^ seen.nodes for seen in recent), *(seen.nodes - names for seen in before))
    total = max([len(names), *(len(seen.nodes) for seen in (*before, *recent))])
    if not sightings and len(changed) == total:
        return  # a cluster that was just made, or a recording without ages: nothing there has changed
    if rules.changed_nodes and changed and len(changed) > rules.changed_nodes * total:
        came = "came or went" if sightings else "came"
        within = format_duration(rules.settle)
        yield Finding("settle", f"{len(changed)} of {total} nodes {came} within the last {within}")


def _rising(cluster: Cluster, rules: Health, sightings: Sequence[Sighting]) -> Iterator[Finding]:
    """Pending pods that have become more, and never fewer, for the whole time."""
    if not rules.pending_rising:
        return
    now = sighting(cluster)
    before = [seen for seen in sightings if seen.at < now.at]
    course = [*[seen for seen in before if now.at - seen.at <= rules.pending_rising], now]
    older = [seen for seen in before if now.at - seen.at > rules.pending_rising]
    course = [*older[-1:], *course]
    counts = [seen.pending for seen in course]
    if now.at - course[0].at >= rules.pending_rising and counts == sorted(counts) and counts[0] < counts[-1]:
        within = format_duration(rules.pending_rising)
        yield Finding("pendingRising", f"pending pods rose from {counts[0]} to {counts[-1]} within {within}")


def _signalled(rules: Health, signals: Signals) -> Iterator[Finding]:
    """Numbers that others have observed."""
    told = (
        ("apiErrors", rules.api_errors, signals.api_error_share, "{:.0%} of the requests to the API server failed"),
        ("apiLatency", rules.api_latency, signals.api_slowest_percent_seconds, "the API server takes {:.1f}s"),
        ("watchAge", rules.watch_age, signals.watch_age_seconds, "the API server has told nothing new for {:.0f}s"),
        ("clockOffset", rules.clock_offset, signals.clock_offset_seconds, "the API server's clock is {:.0f}s off"),
        ("schedulerSilent", rules.scheduler_silent, signals.scheduler_silent_seconds,
         "a pending pod was not tried by its scheduler for {:.0f}s"),
    )  # fmt: skip
    for field, limit, found, text in told:
        if limit and found is not None and abs(found) > limit:
            yield Finding(field, text.format(abs(found)))


def _not_replaced(cluster: Cluster, rules: Health, ledger: Ledger) -> Iterator[Finding]:
    """Pods that left on our account long ago, and whose owner has made no new one."""
    now = cluster.taken_at
    late = [
        entry
        for entry in ledger.entries
        if rules.replaced_within and entry.state is EntryState.OPEN and now - entry.at > rules.replaced_within
    ]
    if not late:
        return
    for entry in late:
        workload, old = cluster.workload_by_uid.get(entry.workload), cluster.pod_by_key.get(entry.pod.key)
        born = [
            now if pod.created_at is None else pod.created_at
            for pod in cluster.pods_of(entry.workload)
            if pod.is_active
        ]
        is_short = len(born) < _wanted(entry, None if workload is None else workload.desired_replicas)
        is_made = any(at >= entry.at - 1.0 for at in born)
        is_gone = old is None or old.uid != entry.pod.uid
        if entry.workload and is_short and not is_made and is_gone:
            waited = format_duration(float(round(now - entry.at)))
            yield Finding("replacedWithin", f"nothing was made in place of {entry.pod.key}, evicted {waited} ago")
            return


def _wanted(entry: LedgerEntry, desired: int | None) -> int:
    return entry.desired if desired is None else desired


# Head-room: how much of the schedulable room is still free once a plan is done.

"""Nodes that this objective empties are on their way out: their room does not count."""


def lacking_head_room(
    cluster: Cluster, moves: Iterable[Move], placements: Iterable[PlannedPlacement], rules: Health
) -> Finding | None:
    """The scarcer of cpu and memory if less of it than ``head_room`` is free after the plan; else None.

    Counted over nodes that take pods; terminating pods count as gone, placed ones as there.
    """
    if not rules.head_room:
        return None
    emptied = _emptied(cluster, moves)
    open_nodes = [
        node
        for node in cluster.nodes
        if node.is_open and not node.is_virtual and node.deletion_at is None and node.name not in emptied
    ]
    offered: Counter[str] = Counter()
    for node in open_nodes:
        offered.update(dict(node.allocatable))
    taken = _taken(cluster, moves, placements, {node.name for node in open_nodes})
    shares = {name: 1 - taken[name] / offered[name] for name in (CPU, MEMORY) if offered[name]}
    if not shares:
        return None
    name = min(shares, key=lambda key: shares[key])
    if shares[name] >= rules.head_room:
        return None
    wanted = f"{rules.head_room:.1%}".replace(".0%", "%")
    return Finding("headRoom", f"{max(0.0, shares[name]):.1%} of {name} stays free, less than the {wanted} to be kept")


def _taken(
    cluster: Cluster, moves: Iterable[Move], placements: Iterable[PlannedPlacement], nodes: set[str]
) -> Counter[str]:
    """What pods ask for on these nodes after the plan."""
    now_on = {move.pod: move.to_node for move in moves}
    now_on.update((item.pod, item.node) for item in placements)
    taken: Counter[str] = Counter()
    for name in nodes:
        taken.update(cluster.held_by_node.get(name, {}))
    for reference, node in now_on.items():
        pod = cluster.pod_by_key.get(reference.key)
        if pod is not None and pod.uid == reference.uid and pod.is_active:
            times = (node in nodes) - (pod.node_name in nodes)
            for name, amount in pod.amounts:
                taken[name] += times * amount
    return taken


def _emptied(cluster: Cluster, moves: Iterable[Move]) -> frozenset[str]:
    """Nodes that keep nothing but what belongs to them."""
    leaving: defaultdict[str, set[str]] = defaultdict(set)
    arriving: set[str] = set()
    for move in moves:
        arriving.add(move.to_node)
        if move.objective == EMPTY_NODES:
            leaving[move.from_node].add(move.pod.uid)
    return frozenset(
        node
        for node, gone in leaving.items()
        if node not in arriving
        and all(pod.uid in gone or pod.belongs_to_its_node for pod in cluster.pods_by_node.get(node, ()))
    )
