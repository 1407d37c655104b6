"""What nodes cost: rows by instance type, capacity type, zone and pool, of which the closest to a node counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rescheduler.model.objects.resources import Resources

KEYS: Final = ("instanceType", "capacityType", "zone", "nodePool")
"""What a row may say of the nodes that it is about, the first weighing most where two rows say as much."""
LABELS_OF_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "instanceType": ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
    "capacityType": ("karpenter.sh/capacity-type",),
    "zone": ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"),
    "nodePool": ("karpenter.sh/nodepool",),
}
"""The labels of nodes that rows are compared with; the first that a node has counts."""

Place = tuple[str | None, ...]
"""A value for each of ``KEYS``; None: not said."""


class PriceRow(NamedTuple):
    """``price``: of one node, for the table's time; ``resources``: what such a node offers to pods, where known."""

    place: Place
    price: float
    resources: Resources = ()


class PriceTable:
    """Rows with the currency and the time that their prices are for; a lookup is O(1), however many there are."""

    def __init__(self, rows: Iterable[PriceRow] = (), currency: str | None = None, per: str = "hour") -> None:
        """``per``: hour or month; of two rows with the same keys the later one counts."""
        self.currency = currency
        self.per = per
        self._rows: dict[tuple[int, ...], dict[Place, PriceRow]] = {}
        for row in rows:
            said = tuple(number for number, value in enumerate(row.place) if value is not None)
            self._rows.setdefault(said, {})[row.place] = row
        self._closest_first = sorted(self._rows, key=lambda said: (-len(said), said))

    def __eq__(self, other: object) -> bool:
        """Whether another says the same of every node, so that a policy that is read twice is one policy."""
        if not isinstance(other, PriceTable):
            return NotImplemented
        return (self.currency, self.per, self._rows) == (other.currency, other.per, other._rows)

    def __hash__(self) -> int:
        """By what takes no time; tables that differ in their rows alone are told apart by ``==``."""
        return hash((self.currency, self.per, self._closest_first[0] if self._closest_first else ()))

    def row_for(self, labels: Mapping[str, str]) -> PriceRow | None:
        """The row with the most keys, all of which the node's labels fulfil; None: there is none."""
        return self.row_at(place_of(labels))

    def row_at(self, place: Place) -> PriceRow | None:
        """As ``row_for``, for a node with these values."""
        for said in self._closest_first:
            wanted = tuple(value if number in said else None for number, value in enumerate(place))
            found = self._rows[said].get(wanted)
            if found is not None:
                return found
        return None

    def rows(self) -> Iterator[PriceRow]:
        """All of them, by how much they say of a node."""
        for said in self._closest_first:
            yield from self._rows[said].values()

    def knows(self, key: str, value: str) -> bool:
        """Whether some row names this value."""
        number = KEYS.index(key)
        return any(row[number] == value for rows in self._rows.values() for row in rows)


def place_of(labels: Mapping[str, str]) -> Place:
    """What a node's labels say of each key."""
    return tuple(
        next((labels[label] for label in labels_of if label in labels), None) for labels_of in LABELS_OF_KEYS.values()
    )
