"""The arrivals of one wave, found by node and by label, so that nobody is compared with all the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from rescheduler.checker.selectors import telling_labels
from rescheduler.checker.world import Arrival
from rescheduler.model.objects.constraints import LabelSelector


class WaveArrivals:
    """All that come in one wave; ``without`` gives each the others."""

    def __init__(self, arrivals: Sequence[Arrival]) -> None:
        """Sort nothing before it is asked for."""
        self.arrivals = arrivals
        self._by_label: dict[str, dict[str, list[int]]] = {}

    def without(self, position: int | None) -> Others:
        """The others, as one of them meets them (None: all)."""
        return Others(self, position)

    def on(self, node: str) -> Sequence[int]:
        """Positions of those that come to a node."""
        return self._on.get(node, ())

    def requested_on(self, node: str) -> Mapping[str, int]:
        """What all that come to a node ask for together."""
        found = self._requested.get(node)
        if found is None:
            found = self._requested[node] = Counter()
            for position in self.on(node):
                for name, amount in self.arrivals[position].pod.spec.requests:
                    found[name] += amount
        return found

    def picked(self, selectors: Iterable[LabelSelector | None]) -> Iterable[int]:
        """Positions of all that the selectors together could pick, and perhaps more."""
        told = [telling for telling in map(telling_labels, selectors) if telling is not None]
        if not told:
            return range(len(self.arrivals))
        return {position for key, value in min(told, key=len) for position in self._labelled(key).get(value, ())}

    def looking_at(self, labels: Mapping[str, str]) -> Iterable[int]:
        """Positions of those with required anti-affinity that could look at such labels, and perhaps more."""
        found = set(self._keeping_apart.get(None, ()))
        for label in labels.items():
            found.update(self._keeping_apart.get(label, ()))
        return found

    def _labelled(self, key: str) -> Mapping[str, Sequence[int]]:
        found = self._by_label.get(key)
        if found is None:
            found = self._by_label[key] = defaultdict(list)
            for position, arrival in enumerate(self.arrivals):
                if key in arrival.pod.labels:
                    found[arrival.pod.labels[key]].append(position)
        return found

    @cached_property
    def _on(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for position, arrival in enumerate(self.arrivals):
            found[arrival.node.name].append(position)
        return found

    @cached_property
    def _requested(self) -> dict[str, Counter[str]]:
        return {}

    @cached_property
    def _keeping_apart(self) -> Mapping[tuple[str, str] | None, Sequence[int]]:
        """Those with required anti-affinity, by the labels that their terms tell of; None: they tell of none."""
        found: dict[tuple[str, str] | None, list[int]] = defaultdict(list)
        for position, arrival in enumerate(self.arrivals):
            for term in arrival.pod.spec.anti_affinity:
                told = telling_labels(term.selector)
                for label in (None,) if told is None else told:
                    found[label].append(position)
        return found


class Others:
    """The arrivals of a wave but one."""

    def __init__(self, wave: WaveArrivals, position: int | None) -> None:
        """``position``: of the one that is left out."""
        self._wave = wave
        self._position = position

    def on(self, node: str) -> Iterator[Arrival]:
        """Those that come to a node."""
        return self._but_own(self._wave.on(node))

    def number_on(self, node: str) -> int:
        """How many come to a node."""
        return len(self._wave.on(node)) - self._is_own(node)

    def requested_on(self, node: str, resource: str) -> int:
        """What those that come to a node ask for together of one resource."""
        asked = self._wave.requested_on(node).get(resource, 0)
        if self._is_own(node):
            assert self._position is not None
            asked -= dict(self._wave.arrivals[self._position].pod.spec.requests).get(resource, 0)
        return asked

    def picked(self, *selectors: LabelSelector | None) -> Iterator[Arrival]:
        """All that the selectors together could pick, and perhaps more."""
        return self._but_own(self._wave.picked(selectors))

    def looking_at(self, labels: Mapping[str, str]) -> Iterator[Arrival]:
        """Those with required anti-affinity that could look at a pod with such labels, and perhaps more."""
        return self._but_own(self._wave.looking_at(labels))

    def _is_own(self, node: str) -> bool:
        return self._position is not None and self._wave.arrivals[self._position].node.name == node

    def _but_own(self, positions: Iterable[int]) -> Iterator[Arrival]:
        return (self._wave.arrivals[position] for position in sorted(positions) if position != self._position)


NOBODY = WaveArrivals(()).without(None)
"""Nobody else comes."""
