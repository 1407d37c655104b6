"""One cycle of descheduler on a frozen snapshot: its plugins in order, limits, and what the API server would refuse."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol

from rescheduler.descheduler.arguments import DeschedulerArguments, PodArguments
from rescheduler.descheduler.evictor import DefaultEvictor, DefaultEvictorArguments
from rescheduler.descheduler.fitting import Fitting
from rescheduler.descheduler.server import EvictionServer
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import NO_DETAIL, PodDetail
from rescheduler.model.objects.resources import CPU, MEMORY


class CycleLimits(NamedTuple):
    """How many pods may be evicted in one cycle; None: any number."""

    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None


class Reply(Enum):
    """What became of an eviction that a plugin asked for."""

    EVICTED = "evicted"
    TOTAL_LIMIT = "maxNoOfPodsToEvictTotal"
    NODE_LIMIT = "maxNoOfPodsToEvictPerNode"
    NAMESPACE_LIMIT = "maxNoOfPodsToEvictPerNamespace"
    REFUSED = "the API server"


class Chosen(NamedTuple):
    """A pod that was asked to be evicted. ``refusal``: the API server's, None where it lets the pod go.

    ``objection``: rule and reason of our own gate, where the walk goes on to the next candidate after it.
    """

    pod: Pod
    plugin: str
    profile: str
    reason: str
    refusal: str | None
    objection: tuple[str, str] | None = None


class OwnGate(Protocol):
    """Our own rules, asked within the walk."""

    def objection(self, pod: Pod, profile: str, plugin: str) -> tuple[str, str] | None:
        """Rule and reason against evicting a pod for a plugin; None: it may go."""

    def spend(self, pod: Pod) -> int:
        """Count a pod that goes; its wave."""


class PluginRun(NamedTuple):
    """One run of one plugin. ``message``: why it did nothing, or its error."""

    plugin: str
    profile: str
    evictions: int
    message: str


class Cycle:
    """The world of one cycle, which stands still: victims stay on their nodes, terminating, and nobody replaces them.

    Counters of the limits are shared by all profiles.
    """

    def __init__(
        self,
        cluster: Cluster,
        nodes: LabelSelector | None,
        limits: CycleLimits,
        providers: frozenset[str] = frozenset(),
        gate: OwnGate | None = None,
    ) -> None:
        """``nodes``: those that plugins see; None: every ready one. ``providers``: sources of measured use.

        ``gate``: ours, whose no is a failed eviction.
        """
        self.providers = providers
        self.cluster = cluster
        self.now = cluster.taken_at
        self.ready = tuple(node for node in cluster.nodes if node.is_ready)
        self.nodes = tuple(node for node in self.ready if nodes is None or selects(nodes, node.labels))
        self.chosen: list[Chosen] = []
        self.evicted: set[str] = set()
        self._named: set[str] = set()  # of all that were chosen
        self._limits = limits
        self._server = EvictionServer(cluster)
        self._gate = gate
        self._by_node: Counter[str] = Counter()
        self._by_namespace: Counter[str] = Counter()
        self._total = 0

    @cached_property
    def listed(self) -> Mapping[str, tuple[Pod, ...]]:
        """Unfinished pods by node name."""
        return self.cluster.pods_by_node

    @cached_property
    def all_pods(self) -> Mapping[str, Sequence[Pod]]:
        """Pods of every phase by node name."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.cluster.pods:
            if pod.node_name is not None:
                found[pod.node_name].append(pod)
        return found

    def detail(self, pod: Pod) -> PodDetail:
        """States and conditions of a pod."""
        return self.cluster.pod_details.get(pod.key, NO_DETAIL)

    def evict(self, pod: Pod, step: PluginTurn, reason: str) -> Reply:
        """Ask for an eviction: limits first, then the API server."""
        limits = self._limits
        if _is_reached(limits.total, self._total):
            return Reply.TOTAL_LIMIT
        if _is_reached(limits.per_node, self._by_node[pod.node_name or ""]):
            return Reply.NODE_LIMIT
        if _is_reached(limits.per_namespace, self._by_namespace[pod.namespace]):
            return Reply.NAMESPACE_LIMIT
        objection = None if self._gate is None else self._gate.objection(pod, step.profile, step.plugin)
        if objection is not None:
            if pod.key not in self._named:
                self._named.add(pod.key)
                self.chosen.append(Chosen(pod, step.plugin, step.profile, reason, None, objection))
            return Reply.REFUSED
        refusal = self._server.refusal(pod, is_terminating=pod.is_terminating or pod.key in self.evicted)
        if pod.key not in (self.evicted if refusal is None else self._named):
            self._named.add(pod.key)
            self.chosen.append(Chosen(pod, step.plugin, step.profile, reason, refusal))
        if refusal is not None:
            return Reply.REFUSED
        if self._gate is not None:
            self._gate.spend(pod)
        self.evicted.add(pod.key)
        self._total += 1
        self._by_node[pod.node_name or ""] += 1
        self._by_namespace[pod.namespace] += 1
        step.evictions += 1
        return Reply.EVICTED


def _is_reached(limit: int | None, count: int) -> bool:
    return limit is not None and count + 1 > limit


class PluginTurn:
    """One plugin's turn: what it may see and do."""

    def __init__(self, cycle: Cycle, plugin: str, profile: str, evictor: DefaultEvictor, fitting: Fitting) -> None:
        """``evictor``: the profile's."""
        self.cycle = cycle
        self.plugin = plugin
        self.profile = profile
        self.evictor = evictor
        self.fitting = fitting
        self.evictions = 0

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes of the cycle, by name."""
        return self.cycle.nodes

    def evict(self, pod: Pod, reason: str) -> Reply:
        """Ask for an eviction."""
        return self.cycle.evict(pod, self, reason)

    def detail(self, pod: Pod) -> PodDetail:
        """States and conditions of a pod."""
        return self.cycle.detail(pod)

    def pods_on(self, node: Node, *, finished_too: bool = False) -> Sequence[Pod]:
        """Pods of a node, by namespace and name; those that have finished are left out unless asked for."""
        return (self.cycle.all_pods if finished_too else self.cycle.listed).get(node.name, ())

    def wanted(self, node: Node, arguments: PodArguments, *, finished_too: bool = False) -> list[Pod]:
        """Pods of a node that namespaces and labels let in and that may be evicted."""
        selector = None if arguments.label_selector is None else arguments.label_selector.read()
        return [
            pod
            for pod in self.pods_on(node, finished_too=finished_too)
            if arguments.namespaces.let_in(pod.namespace)
            and (selector is None or selects(selector, pod.labels))
            and self.evictor.allows(pod)
        ]

    def evict_each(self, pods: Iterable[tuple[Pod, str]]) -> bool:
        """Evict pods of one node, with a reason each, until its limit is reached; False: the total limit is."""
        for pod, reason in pods:
            answer = self.evict(pod, reason)
            if answer is Reply.TOTAL_LIMIT:
                return False
            if answer is Reply.NODE_LIMIT:
                return True
        return True

    def lowest_first(self, pods: Iterable[Pod]) -> list[Pod]:
        """By priority (none first), then quality of service, then those that ask not to be evicted last."""
        return sorted(pods, key=self._rank)

    def _rank(self, pod: Pod) -> tuple[int, int, bool]:
        priority = self.evictor.priority_of(pod)
        return (-(2**31) - 1 if priority is None else priority, quality(pod), self.evictor.is_passed_over(pod))


def quality(pod: Pod) -> int:
    """Quality of service: 0 BestEffort, 1 Burstable, 2 Guaranteed, by cpu and memory of all containers."""
    requests: Counter[str] = Counter()
    limits: Counter[str] = Counter()
    is_limited = True
    for container in pod.spec.containers:
        asked, bound = dict(container.requests), dict(container.limits)
        is_limited &= all(bound.get(name) for name in (CPU, MEMORY))
        for name in (CPU, MEMORY):
            requests[name] += asked.get(name, 0)
            limits[name] += bound.get(name, 0)
    if not any(requests.values()) and not any(limits.values()):
        return 0
    is_whole = all(requests[name] == limits[name] for name in (CPU, MEMORY))
    return 2 if is_limited and is_whole else 1


RunPlugin = Callable[[PluginTurn, DeschedulerArguments], str]
"""One run of a plugin; what it has to say of having done nothing, "" where it did something."""


class EnabledPlugin(NamedTuple):
    """A plugin at its turn in a profile."""

    name: str
    arguments: DeschedulerArguments
    run: RunPlugin


class DeschedulerProfile(NamedTuple):
    """One profile: who may go, and the plugins in the order in which they run. ``threshold``: as a number."""

    name: str
    evictor: DefaultEvictorArguments
    threshold: int | None
    targets: LabelSelector | None
    deschedule: tuple[EnabledPlugin, ...]
    balance: tuple[EnabledPlugin, ...]


class CycleResult(NamedTuple):
    """Whom a cycle asked to evict, in order, and what each plugin did."""

    chosen: tuple[Chosen, ...]
    runs: tuple[PluginRun, ...]


def run_cycle(
    cluster: Cluster,
    profiles: Sequence[DeschedulerProfile],
    nodes: LabelSelector | None,
    limits: CycleLimits,
    providers: frozenset[str] = frozenset(),
    gate: OwnGate | None = None,
) -> CycleResult:
    """Deschedule points of all profiles in order, then their balance points; nothing with fewer than two nodes."""
    cycle = Cycle(cluster, nodes, limits, providers, gate)
    if len(cycle.nodes) < 2:
        message = f"{len(cycle.nodes)} ready nodes; with fewer than 2 nothing is done"
        return CycleResult(
            (), tuple(PluginRun(plugin.name, profile.name, 0, message) for profile, plugin in turns_of(profiles))
        )
    tools = {id(profile): tools_of(cycle, profile) for profile in profiles}
    runs = []
    for profile, plugin in turns_of(profiles):
        step = PluginTurn(cycle, plugin.name, profile.name, *tools[id(profile)])
        message = plugin.run(step, plugin.arguments)
        runs.append(PluginRun(plugin.name, profile.name, step.evictions, message))
    return CycleResult(tuple(cycle.chosen), tuple(runs))


def turns_of(profiles: Sequence[DeschedulerProfile]) -> Iterable[tuple[DeschedulerProfile, EnabledPlugin]]:
    """Plugins in running order."""
    for profile in profiles:
        yield from ((profile, plugin) for plugin in profile.deschedule)
    for profile in profiles:
        yield from ((profile, plugin) for plugin in profile.balance)


def tools_of(cycle: Cycle, profile: DeschedulerProfile) -> tuple[DefaultEvictor, Fitting]:
    """What all plugins of a profile ask."""
    fitting = Fitting(cycle.ready, cycle.listed, profile.targets)
    return DefaultEvictor(cycle.cluster, profile.evictor, profile.threshold, fitting, cycle.evicted), fitting
