"""The machines of the table of prices that could stand in for nodes, or that somebody names by their type."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.selectors import holds
from rescheduler.model.columns.spread import HOSTNAME
from rescheduler.model.machine import Machine
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import Resources
from rescheduler.model.plan.imagined import lasting_taints, with_pods
from rescheduler.model.prices import LABELS_OF_KEYS, Place, PriceRow, place_of
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import Policy

CAPACITY_LABEL = LABELS_OF_KEYS["capacityType"][0]
TOLD_BY_PLACE = frozenset(label for labels in LABELS_OF_KEYS.values() for label in labels)
"""Labels that are known of a machine of whose type the cluster has no node yet."""


@dataclass
class Offers:
    """Machines, and ``unjudged``: requirements of NodePools on labels that nobody knows of their types, by pool."""

    machines: list[Machine] = field(default_factory=list)
    unjudged: dict[str, set[str]] = field(default_factory=dict)


def machine_of(place: Place, cluster: Cluster, policy: Policy) -> Machine:
    """The machine of a type that somebody names. Raises ReschedulerError where the table has no row or size for it."""
    wanted = _with_unsaid(place, cluster)
    row = policy.prices.table.row_at(wanted)
    name = printable(str(place[0]), 60)
    if row is None or row.place[0] is None:
        raise ReschedulerError(f"--add-node type:{name}: the table of prices has no row for it")
    if not row.resources:
        raise ReschedulerError(f"--add-node type:{name}: its row in the table of prices says no resources")
    sample = next((node for node in cluster.nodes if place_of(node.labels) == wanted), None)
    alike = [sample] if sample else list(cluster.nodes)
    return _machine(wanted, row, alike, sample, policy)


def _with_unsaid(place: Place, cluster: Cluster) -> Place:
    """With what all nodes have in common where nothing is said."""
    of_nodes = [place_of(node.labels) for node in cluster.nodes]
    shared = [values[0] if len(set(values)) == 1 else None for values in zip(*of_nodes, strict=True)] or [None] * 4
    return tuple(value or common for value, common in zip(place, shared, strict=True))


def machines_like(
    nodes: Sequence[Node], cluster: Cluster, policy: Policy, *, keys: Collection[str], below: float
) -> Offers:
    """What could be bought in place of these nodes: each row with a size, in the pools of the nodes.

    What a row leaves open (capacity type, zone, pool) is as on one of the nodes. Left out: what the pool's requirements
    exclude, what costs ``below`` a month or more, and what another machine is as good as in every respect that
    pods can tell; ``keys``: labels that pods look at.
    """
    offers = Offers()
    found: dict[Place, Machine] = {}
    templates = {place_of(node.labels)[1:]: node for node in reversed(nodes)}
    by_place = {place_of(node.labels): node for node in reversed(cluster.nodes)}
    shared = {template: _alike(template, nodes) for template in templates}
    for row in policy.prices.table.rows():
        if row.place[0] is None or not row.resources:
            continue
        for template, example in templates.items():
            place = _filled(row.place, template)
            if place is None or place in found:
                continue
            sample = by_place.get(place)
            closest = policy.prices.table.row_at(place) or row
            size = closest if closest.resources else closest._replace(resources=row.resources)
            machine = _machine(place, size, [sample] if sample else shared[template], sample or example, policy)
            if machine.price < below and _may_be_bought(machine, cluster, nodes, by_place, offers.unjudged):
                found[place] = machine
    offers.machines = list(_worth_a_look(found.values(), keys))
    return offers


def _alike(template: Place, nodes: Sequence[Node]) -> list[Node]:
    """Nodes to take labels from: those of the same pool."""
    return [node for node in nodes if place_of(node.labels)[3] == template[2]]


def _filled(row: Place, template: Place) -> Place | None:
    """A row's place with what it leaves open; None: it is of another pool."""
    if row[3] is not None and row[3] != template[2]:
        return None
    return (row[0], *(said or usual for said, usual in zip(row[1:], template, strict=True)))


def _machine(place: Place, row: PriceRow, alike: Sequence[Node], sample: Node | None, policy: Policy) -> Machine:
    """``alike``: nodes whose common labels it has; ``sample``: whose taints, and pods that belong to it."""
    labels = dict(alike[0].labels) if alike else {}
    for node in alike:
        labels = {key: value for key, value in labels.items() if node.labels.get(key) == value}
    for value, names in zip(place, LABELS_OF_KEYS.values(), strict=True):
        known = [name for name in names if name in labels] or list(names[:1])
        for name in known:
            labels.pop(name, None)
            if value is not None:
                labels[name] = value
    labels.pop(HOSTNAME, None)
    labels.pop(policy.prices.label or "", None)
    price = policy.prices.a_month(labels)
    taints = lasting_taints(sample) if sample is not None else ()
    name = sample.name if sample is not None else ""
    return Machine(place, 0.0 if price is None else price, with_pods(row.resources), labels, taints, name)


def _may_be_bought(
    machine: Machine,
    cluster: Cluster,
    nodes: Sequence[Node],
    by_place: Mapping[Place, Node],
    unjudged: dict[str, set[str]],
) -> bool:
    """Whether the pool's requirements let it; a capacity type of which they say nothing must be one of the nodes'."""
    pool = next((pool for pool in cluster.node_pools if pool.name == machine.place[3]), None)
    requirements = () if pool is None else pool.requirements
    if all(one.key != CAPACITY_LABEL for one in requirements):
        known = {place_of(node.labels)[1] for node in nodes}
        if machine.place[1] not in known:
            return False
    is_known = machine.place in by_place
    for requirement in requirements:
        if is_known or requirement.key in TOLD_BY_PLACE:
            if not holds(requirement, machine.labels.get(requirement.key)):
                return False
        elif pool is not None:
            unjudged.setdefault(pool.name, set()).add(requirement.key)
    return True


def _worth_a_look(machines: Iterable[Machine], keys: Collection[str]) -> Iterator[Machine]:
    """Machines that no cheaper one equals in size, among those that pods cannot tell apart."""
    groups: dict[tuple[object, ...], list[Machine]] = {}
    for machine in sorted(machines, key=lambda one: (one.price, str(one.place))):
        told = _told_apart(keys)(machine)
        rivals = groups.setdefault(told, [])
        if not any(_is_as_large(rival.resources, machine.resources) for rival in rivals):
            rivals.append(machine)
            yield machine


def _told_apart(keys: Collection[str]) -> Callable[[Machine], tuple[object, ...]]:
    names = sorted(keys)

    def told(machine: Machine) -> tuple[object, ...]:
        values = tuple(machine.labels.get(name) for name in names)
        taints: tuple[Taint, ...] = machine.taints
        return (machine.place[1:], values, taints)

    return told


def _is_as_large(one: Resources, other: Resources) -> bool:
    offered = dict(one)
    return all(offered.get(name, 0) >= amount for name, amount in other)


def unjudged_told(offers: Offers) -> Iterator[str]:
    """What nobody could look up of machines that the cluster has none of yet."""
    for pool, keys in sorted(offers.unjudged.items()):
        yield (
            f"NodePool {pool} asks for {', '.join(sorted(keys))}, which a table of prices does not tell: whether it "
            "may buy a type of which there is no node yet is not certain"
        )
