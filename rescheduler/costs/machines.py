"""The machines of the table of prices that could stand in for nodes, or that somebody names by their type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.selectors import holds
from rescheduler.model.columns.spread import HOSTNAME
from rescheduler.model.machine import Machine
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import Resources
from rescheduler.model.plan.imagined import lasting_taints, with_pods
from rescheduler.model.prices import LABELS_OF_KEYS, Place, place_of
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import Policy

CAPACITY_LABEL = LABELS_OF_KEYS["capacityType"][0]
TOLD_BY_PLACE = frozenset(label for labels in LABELS_OF_KEYS.values() for label in labels)
"""Labels that are known of a machine of whose type the cluster has no node yet."""


@dataclass
class MachineOffers:
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
    labels = _common_labels([sample] if sample else cluster.nodes)
    return _machine(wanted, row.resources, _price(wanted, policy), labels, sample, policy.prices.label)


def _with_unsaid(place: Place, cluster: Cluster) -> Place:
    """With what all nodes have in common where nothing is said."""
    of_nodes = [place_of(node.labels) for node in cluster.nodes]
    shared = [values[0] if len(set(values)) == 1 else None for values in zip(*of_nodes, strict=True)] or [None] * 4
    return tuple(value or common for value, common in zip(place, shared, strict=True))


def machines_like(
    nodes: Sequence[Node], cluster: Cluster, policy: Policy, *, keys: Collection[str], below: float
) -> MachineOffers:
    """What could be bought in place of these nodes: each row with a size, in the pools of the nodes.

    What a row leaves open (capacity type, zone, pool) is as on one of the nodes. Left out: what the pool's requirements
    exclude, what costs ``below`` a month or more, and what another machine is as good as in every respect that
    pods can tell; ``keys``: labels that pods look at.
    """
    offers = MachineOffers()
    found: dict[Place, Machine] = {}
    templates = {place_of(node.labels)[1:]: node for node in reversed(nodes)}
    by_place = {place_of(node.labels): node for node in reversed(cluster.nodes)}
    capacity_types = {template[0] for template in templates}
    of_pool = {template[2]: _common_labels(_of_pool(template[2], nodes)) for template in templates}
    for row in policy.prices.table.rows():
        if row.place[0] is None or not row.resources:
            continue
        for template, example in templates.items():
            place = _filled(row.place, template)
            if place is None or place in found:
                continue
            price = _price(place, policy)
            if price >= below:
                continue
            sample = by_place.get(place)
            closest = policy.prices.table.row_at(place)
            size = row.resources if closest is None or not closest.resources else closest.resources
            labels = dict(sample.labels) if sample else of_pool[place[3]]
            machine = _machine(place, size, price, labels, sample or example, policy.prices.label)
            if _may_be_bought(machine, cluster, capacity_types, by_place, offers.unjudged):
                found[place] = machine
    offers.machines = list(_worth_a_look(found.values(), keys))
    return offers


def _of_pool(pool: str | None, nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if place_of(node.labels)[3] == pool]


def _common_labels(nodes: Sequence[Node]) -> dict[str, str]:
    """Labels that all of them have, with the same value."""
    labels = dict(nodes[0].labels) if nodes else {}
    for node in nodes:
        labels = {key: value for key, value in labels.items() if node.labels.get(key) == value}
    return labels


def _filled(row: Place, template: Place) -> Place | None:
    """A row's place with what it leaves open; None: it is of another pool."""
    if row[3] is not None and row[3] != template[2]:
        return None
    return (row[0], *(said or usual for said, usual in zip(row[1:], template, strict=True)))


def _price(place: Place, policy: Policy) -> float:
    """A month, by the table of prices, which has a row for it."""
    price = policy.prices.a_month(_labels_of(place, ()))
    return 0.0 if price is None else price


def _labels_of(place: Place, known: Collection[str]) -> dict[str, str]:
    """What a node's labels say of its place, under those of their names that are ``known``."""
    found: dict[str, str] = {}
    for value, names in zip(place, LABELS_OF_KEYS.values(), strict=True):
        if value is not None:
            found |= {name: value for name in names if name in known} or {names[0]: value}
    return found


def _machine(
    place: Place,
    size: Resources,
    price: float,
    labels: Mapping[str, str],
    sample: Node | None,
    without: str | None = None,
) -> Machine:
    """``labels``: what its node is taken to have beside those of its place; ``sample``: whose taints, and pods that
    belong to it. ``without``: the label of a node's own price.
    """
    other = {key: value for key, value in labels.items() if key not in (*TOLD_BY_PLACE, HOSTNAME, without)}
    taints = lasting_taints(sample) if sample is not None else ()
    name = sample.name if sample is not None else ""
    return Machine(place, price, with_pods(size), {**other, **_labels_of(place, labels)}, taints, name)


def _may_be_bought(
    machine: Machine,
    cluster: Cluster,
    capacity_types: Collection[str | None],
    by_place: Mapping[Place, Node],
    unjudged: dict[str, set[str]],
) -> bool:
    """Whether the pool's requirements let it; a capacity type of which they say nothing must be one of the nodes'."""
    pool = cluster.pool_by_name.get(machine.place[3] or "")
    requirements = () if pool is None else pool.requirements
    if all(one.key != CAPACITY_LABEL for one in requirements) and machine.place[1] not in capacity_types:
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
    names = sorted(keys)
    groups: dict[tuple[object, ...], list[dict[str, int]]] = {}
    for machine in sorted(machines, key=lambda one: (one.price, str(one.place))):
        told = (machine.place[1:], tuple(machine.labels.get(name) for name in names), machine.taints)
        rivals = groups.setdefault(told, [])
        if not any(all(rival.get(name, 0) >= amount for name, amount in machine.resources) for rival in rivals):
            rivals.append(dict(machine.resources))
            yield machine


def unjudged_told(offers: MachineOffers) -> Iterator[str]:
    """What nobody could look up of machines that the cluster has none of yet."""
    for pool, keys in sorted(offers.unjudged.items()):
        yield (
            f"NodePool {pool} asks for {', '.join(sorted(keys))}, which a table of prices does not tell: whether it "
            "may buy a type of which there is no node yet is not certain"
        )
