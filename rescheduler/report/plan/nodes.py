"""Nodes before and after a plan as a table; those that change most first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.console import RenderableType

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, Resources, format_amount
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.model.usage.usage import FloatArray
from rescheduler.report.cells import cell, plural, table
from rescheduler.report.plan.flows import Flow, flows_of

# What the nodes that a plan touches hold before and after it, and before and after each of its waves.

SHOWN_FIRST = (CPU, MEMORY)
_WHOLE_CORES = 10**8  # millicores from which decimals would need an exponent

IN_USE = " in use"
"""What stands behind a resource where measured use is told, and not requests."""

Amounts = Mapping[str, int]


class NodeUse(NamedTuple):
    """One node: what it offers, and what pods ask of it, by resource (``pods`` too), and use where it is measured.

    ``after`` is ``before`` less ``leaving``, and with ``arriving`` (pods from other nodes) and ``placed`` (pods that
    were pending).
    """

    node: Node
    offered: Amounts
    before: Amounts
    leaving: Amounts
    arriving: Amounts
    placed: Amounts

    @property
    def after(self) -> Amounts:
        """What is asked of the node in the end."""
        total = Counter(self.before)
        total.update(self.arriving)
        total.update(self.placed)
        total.subtract(self.leaving)
        return total

    @property
    def pods_changed(self) -> int:
        """How many pods leave and arrive."""
        return self.leaving.get(PODS, 0) + self.arriving.get(PODS, 0) + self.placed.get(PODS, 0)


class MeasuredAmounts:
    """Use in whole millicores, bytes and pieces, by names such as ``cpu in use``; of unknown nodes nothing."""

    def __init__(self, cluster: Cluster, observed: ObservedUse | None) -> None:
        """``observed``: aligned with the cluster; None: nothing is measured."""
        self._observed = observed
        self._names = () if observed is None else tuple(f"{name}{IN_USE}" for name in observed.resources)
        self._nodes = {} if observed is None else {node.name: row for row, node in enumerate(cluster.nodes)}
        self._pods = {} if observed is None else {pod.key: row for row, pod in enumerate(cluster.pods)}

    def offered(self, node: str) -> Amounts:
        """What a node can bear."""
        return self._of_node(node, lambda known: known.capacity)

    def of_rest(self, node: str) -> Amounts:
        """What a node uses beyond its pods."""
        return self._of_node(node, lambda known: known.of_rest)

    def of_pod(self, key: str) -> Resources:
        """What a pod uses wherever it is."""
        if self._observed is None:
            return ()
        used = self._observed.of_pods[:, self._pods[key]]
        return tuple(zip(self._names, map(round, used.tolist()), strict=True))

    def _of_node(self, node: str, amounts: Callable[[ObservedUse], FloatArray]) -> Amounts:
        if self._observed is None or not self._observed.is_known[self._nodes[node]]:
            return {}
        column = amounts(self._observed)[:, self._nodes[node]]
        return dict(zip(self._names, map(round, column.tolist()), strict=True))


def uses_of(
    plan: Plan | PlanResult, cluster: Cluster, *, and_others: int = 0, observed: ObservedUse | None = None
) -> tuple[NodeUse, ...]:
    """Every node that a pod leaves or arrives on, by name, and then as many of the others as are asked for.

    Nodes and pods that the cluster lacks are left out. ``observed``: measured load of the cluster, if any.
    """
    walk = Walk(cluster, observed)
    flows = flows_of(plan)
    touched = walk.step(flows)
    if not and_others:
        return touched
    known = {use.node.name for use in touched}
    others = [node.name for node in cluster.nodes if node.name not in known]
    return (*touched, *(walk.at_rest(name) for name in others[:and_others]))


class Walk:
    """The cluster's use from step to step: what one step leaves behind is where the next one begins."""

    def __init__(self, cluster: Cluster, observed: ObservedUse | None = None) -> None:
        self._cluster = cluster
        self._measured = MeasuredAmounts(cluster, observed)
        self._now: dict[str, Amounts] = {}

    def step(self, flows: Sequence[Flow]) -> tuple[NodeUse, ...]:
        """The nodes that pods leave or arrive on, by name, and go on from there."""
        leaving, arriving, placed = _Totals(), _Totals(), _Totals()
        for flow in flows:
            pod = self._cluster.pod_by_key.get(flow.pod.key)
            if pod is None:
                continue
            if flow.origin is not None:
                leaving.add(flow.origin, self._held(pod))
            if flow.target is not None:
                asked = (*pod.spec.requests, *self._measured.of_pod(pod.key))
                (placed if flow.origin is None else arriving).add(flow.target, asked)
        names = sorted({*leaving.by_node, *arriving.by_node, *placed.by_node} & self._cluster.node_by_name.keys())
        uses = tuple(self._use(name, leaving.on(name), arriving.on(name), placed.on(name)) for name in names)
        self._now.update((use.node.name, use.after) for use in uses)
        return uses

    def at_rest(self, name: str) -> NodeUse:
        """A node as it stands now."""
        return self._use(name, {}, {}, {})

    def _use(self, name: str, leaving: Amounts, arriving: Amounts, placed: Amounts) -> NodeUse:
        node = self._cluster.node_by_name[name]
        before = self._now.get(name)
        if before is None:
            before = _total(map(self._held, self._cluster.pods_by_node.get(name, ())))
            before.update(self._measured.of_rest(name))
        offered = {**dict(node.allocatable), **self._measured.offered(name)}
        return NodeUse(node, offered, before, leaving, arriving, placed)

    def _held(self, pod: Pod) -> Resources:
        return (*pod.amounts, *self._measured.of_pod(pod.key))


class _Totals:
    """Sums of requests, and numbers of pods, by node."""

    def __init__(self) -> None:
        self.by_node: dict[str, Counter[str]] = {}

    def add(self, node: str, amounts: Resources) -> None:
        total = self.by_node.setdefault(node, Counter())
        total[PODS] += 1
        for name, amount in amounts:
            total[name] += amount

    def on(self, node: str) -> Amounts:
        return self.by_node.get(node, {})


def resources_shown(uses: Iterable[NodeUse]) -> tuple[str, ...]:
    """CPU and memory, measured use, and every other resource whose use the plan changes, but for the number of pods."""
    changed: set[str] = set()
    for use in uses:
        for amounts in (use.leaving, use.arriving, use.placed):
            changed.update(name for name, amount in amounts.items() if amount)
    return (*SHOWN_FIRST, *sorted(changed - {*SHOWN_FIRST, PODS}, key=lambda name: (not name.endswith(IN_USE), name)))


def measured_resources(uses: Iterable[NodeUse]) -> tuple[str, ...]:
    """What is told of measured use, by name."""
    return tuple(sorted({name for use in uses for name in use.offered if name.endswith(IN_USE)}))


def in_one_unit(resource: str, amount: int) -> str:
    """An amount for a column: cores in decimals, so that a column does not mix cores and millicores."""
    resource = resource.removesuffix(IN_USE)
    if resource == CPU:
        return f"{amount / 1000:g}" if abs(amount) < _WHOLE_CORES else str(amount // 1000)
    return format_amount(resource, amount)


def _total(amounts: Iterable[Resources]) -> Counter[str]:
    total: Counter[str] = Counter()
    for resources in amounts:
        total[PODS] += 1
        for name, amount in resources:
            total[name] += amount
    return total


MOST_NODES_SHOWN = 20


def most_changed_first(
    uses: Sequence[NodeUse], plan: Plan | PlanResult, emptied: Collection[str]
) -> tuple[NodeUse, ...]:
    """Nodes that are emptied, then those that pending pods get, then the others by how many pods change."""
    given = {place.node for place in plan.placements}
    empty = frozenset(emptied)

    def rank(use: NodeUse) -> tuple[bool, bool, int, str]:
        name = use.node.name
        return name not in empty, name not in given, -use.pods_changed, name

    return tuple(sorted(uses, key=rank))


def node_rows(
    uses: Sequence[NodeUse], plan: Plan | PlanResult, emptied: Collection[str], *, wide: bool
) -> Iterator[RenderableType]:
    """The table, and how many nodes are left out of it."""
    resources = resources_shown(uses)
    shown = most_changed_first(uses, plan, emptied)[: None if wide else MOST_NODES_SHOWN]
    marks = _marks(plan, emptied)
    has_marks = any(use.node.name in marks for use in shown)
    headings = ["NODE", *(name.upper() for name in resources), "PODS", *(["NOTE"] if has_marks else [])]
    rows = []
    for use in shown:
        note = [marks.get(use.node.name, "")] if has_marks else []
        rows.append([use.node.name, *(_change(use, name) for name in (*resources, PODS)), *note])
    yield table(headings, rows)
    if len(shown) < len(uses):
        yield cell(f"and {plural(len(uses) - len(shown), 'more node')} that change; -o wide lists each of them.", "dim")


def _marks(plan: Plan | PlanResult, emptied: Collection[str]) -> dict[str, str]:
    placed: dict[str, list[str]] = defaultdict(list)
    for place in plan.placements:
        placed[place.node].append(place.pod.key)
    marks = {
        node: f"for {keys[0]}" + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")
        for node, keys in placed.items()
    }
    return {**marks, **dict.fromkeys(emptied, "emptied")}


def _change(use: NodeUse, name: str) -> str:
    before, after = (in_one_unit(name, amounts.get(name, 0)) for amounts in (use.before, use.after))
    change = before if before == after else f"{before} -> {after}"
    return f"{change} of {in_one_unit(name, use.offered.get(name, 0))}"
