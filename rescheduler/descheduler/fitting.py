"""Whether a pod fits a node as descheduler sees it: one pod at a time, nothing reserved, few of the scheduler's rules.

A second idea of fit on purpose: it leaves out spread, pod affinity, volumes and ports, and of anti-affinity it looks at
the pod's own terms on that one node only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from rescheduler.model.columns.selectors import NodeTable, selects
from rescheduler.model.columns.taints import is_tolerated
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Taint, Toleration
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import PODS

HARD = ("NoSchedule", "NoExecute")
SOFT = "PreferNoSchedule"


def requests_of(pod: Pod) -> Mapping[str, int]:
    """What a pod asks for: millicores, or units."""
    return dict(pod.spec.requests)


def tolerates_all(tolerations: Iterable[Toleration], taints: Iterable[Taint]) -> bool:
    """Whether each of the taints is tolerated."""
    return all(is_tolerated(taint, tolerations) for taint in taints)


@lru_cache(maxsize=65536)
def tolerates_hard(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...]) -> bool:
    """Whether each NoSchedule and NoExecute taint is tolerated."""
    return tolerates_all(tolerations, [taint for taint in taints if taint.effect in HARD])


def term_selects(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    """Whether a pod's own term selects another pod of another name; ``namespaceSelector`` is not looked at."""
    namespaces = term.namespaces or (owner.namespace,)
    return other.name != owner.name and other.namespace in namespaces and selects(term.selector, other.labels)


class Fitting:
    """Answers about a frozen cluster. ``nodes``: every ready node; ``listed``: unfinished pods by node name."""

    def __init__(
        self, nodes: Sequence[Node], listed: Mapping[str, Sequence[Pod]], targets: LabelSelector | None
    ) -> None:
        """``targets``: nodes that victims may be thought to go to; None: all."""
        self._nodes = tuple(nodes)
        self._table = NodeTable(self._nodes)
        self._number = {node.name: number for number, node in enumerate(self._nodes)}
        self._listed = listed
        self._targets = tuple(node for node in self._nodes if targets is None or selects(targets, node.labels))
        self._used: dict[str, Counter[str]] = {}

    def matches(self, pod: Pod, node: Node) -> bool:
        """Whether node selector and required node affinity let the pod onto the node."""
        number = self._number.get(node.name)
        rules = pod.spec.node_affinity
        required = None if rules is None else rules.required
        return number is not None and bool(self._table.demanded(pod.spec.node_selector, required)[number])

    def preference(self, pod: Pod, node: Node) -> int:
        """Sum of the weights of the preferred node affinity terms that the node matches."""
        rules, number = pod.spec.node_affinity, self._number.get(node.name)
        if rules is None or number is None:
            return 0
        return sum(wish.weight for wish in rules.preferred if self._table.matching_term(wish.term)[number])

    def fits_another(self, pod: Pod, among: Iterable[Node] | None = None) -> bool:
        """Whether the pod fits some node other than its own; ``among``: of these, None: of the evictor's targets."""
        nodes = self._targets if among is None else among
        return any(self._fits(pod, node) for node in nodes if node.name != pod.node_name)

    def fits_any(self, pod: Pod, nodes: Iterable[Node]) -> bool:
        """The same of given nodes, its own included, of which no room is asked."""
        return any(self._fits(pod, node) for node in nodes)

    def _fits(self, pod: Pod, node: Node) -> bool:
        return (
            not node.is_unschedulable
            and self.matches(pod, node)
            and tolerates_hard(pod.spec.tolerations, node.taints)
            and not self._is_repelled(pod, node)
            and (node.name == pod.node_name or self._has_room(pod, node))
        )

    def _is_repelled(self, pod: Pod, node: Node) -> bool:
        return any(
            term.topology_key in node.labels and term_selects(term, pod, other)
            for term in pod.spec.anti_affinity
            for other in self._listed.get(node.name, ())
        )

    def _has_room(self, pod: Pod, node: Node) -> bool:
        used, offered = self._use(node), dict(node.allocatable)
        wanted = {**requests_of(pod), PODS: 1}
        return all(amount <= offered.get(name, 0) - used[name] for name, amount in wanted.items() if amount)

    def _use(self, node: Node) -> Counter[str]:
        found = self._used.get(node.name)
        if found is None:
            found = self._used[node.name] = used_by(self._listed.get(node.name, ()))
        return found


def used_by(pods: Iterable[Pod]) -> Counter[str]:
    """What pods ask for together, ``pods`` counted."""
    total: Counter[str] = Counter()
    for pod in pods:
        total[PODS] += 1
        for name, amount in pod.spec.requests:
            total[name] += amount
    return total
