"""Several pods evicted at once: owners make them anew, and all their places together are foretold and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from benchmarks.fidelity.cases import answer
from benchmarks.fidelity.comparison import Seen
from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.nodes import image_sizes, node
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.workloads import NAMESPACE, replica_sets
from tests.cluster.api import Api, ApiError
from tests.cluster.waiting import wait_until

SIZES: Final = (8, 12, 16, 24)
PODS_PER_NODE: Final = 3
_DENSITY: Final = 15
"""Percent of the usual constraints, so that most pods find a place."""


class Place(NamedTuple):
    """One pod: the best nodes foretold, with those before it where they went, and the node seen (None: none)."""

    pod: str
    profile: str
    best: tuple[str, ...]
    seen: str | None

    @property
    def is_expected(self) -> bool:
        """It went where it was foretold to go, or nowhere as foretold."""
        return self.seen in self.best if self.seen else not self.best


@dataclass
class Sequence:
    """Pods evicted together, in the order in which the scheduler got them back."""

    seed: int
    places: list[Place] = field(default_factory=list)

    @property
    def is_exact(self) -> bool:
        """Every pod went where it was foretold to go."""
        return all(place.is_expected for place in self.places)


def compared(seed: int, waiting: Iterable[tuple[str, str]], seen: dict[str, str | None], oracle: Oracle) -> Sequence:
    """Follow the pods (key, profile) in order; one that fitted nowhere is tried again when others have their places.

    So does the scheduler, which tries again a pod that a new neighbour may have helped.
    """
    sequence = Sequence(seed)
    postponed: list[tuple[str, str]] = []
    turns = [(*item, False) for item in waiting]
    while turns:
        key, profile, is_last = turns.pop(0)
        best, node = oracle.foretell(key).best, seen[key]
        if node and not best and not is_last:
            postponed.append((key, profile))
        else:
            sequence.places.append(Place(key, profile, best, node))
        if node and (best or is_last):
            oracle.follow(key, node)
        if not turns:
            turns, postponed = [(*item, True) for item in postponed], []
    return sequence


class Evictions:
    """Evicts pods of random workloads on one control plane and lets their successors go."""

    def __init__(self, api: Api, oracle: Oracle) -> None:
        self._api, self._oracle = api, oracle

    def run(self, seed: int, rounds: int, evictions: int) -> Iterator[Sequence]:
        """Up to so many rounds on one random cluster; fewer where a pod finds no place, as it would wait for ever."""
        draw = Draw(seed)
        draw.density = _DENSITY
        with self._showing(draw, seed):
            self._let_go(seed)
            for _ in range(rounds):
                standing = [name for name, pod in self._pods().items() if pod["spec"].get("nodeName")]
                if len(standing) < len(self._pods()):
                    return
                for name in draw.random.sample(sorted(standing), min(evictions, len(standing))):
                    self._api.post_eviction(name, NAMESPACE)
                self._wait_for_pods(len(standing))
                yield self._let_go(seed)

    def _let_go(self, seed: int) -> Sequence:
        """Foretell, open all gates in order, compare."""
        waiting = {name: pod for name, pod in self._pods().items() if not pod["spec"].get("nodeName")}
        order = sorted(waiting)
        self._oracle.look()
        for name in order:
            self._api.patch("pods", name, {"spec": {"schedulingGates": None}}, NAMESPACE)
        seen = self._answers(order)
        pairs = [(f"{NAMESPACE}/{name}", waiting[name]["spec"]["schedulerName"]) for name in order]
        return compared(seed, pairs, {f"{NAMESPACE}/{name}": seen[name].node for name in order}, self._oracle)

    def _answers(self, names: list[str]) -> dict[str, Seen]:
        found: dict[str, Seen] = {}

        def are_there() -> bool:
            pods = self._pods()
            found.update({name: seen for name in names if (seen := answer(pods[name])) is not None})
            return len(found) == len(names)

        wait_until(are_there, lambda: f"an answer for {sorted(set(names) - set(found))}")
        return found

    def _wait_for_pods(self, count: int) -> None:
        """Until the evicted pods are gone and their successors are there."""

        def are_there() -> bool:
            pods = self._pods().values()
            return len(pods) == count and not any("deletionTimestamp" in pod["metadata"] for pod in pods)

        wait_until(are_there, lambda: f"{count} pods; there are {len(self._pods())}")

    def _pods(self) -> dict[str, Manifest]:
        return {pod["metadata"]["name"]: pod for pod in self._api.list("pods", NAMESPACE)}

    @contextmanager
    def _showing(self, draw: Draw, seed: int) -> Iterator[None]:
        """A random cluster with its workloads, all pods still behind their gates."""
        names = [f"n{number}-q{seed}" for number in range(draw.one(SIZES))]
        sizes = image_sizes(draw)
        count = PODS_PER_NODE * len(names)
        sets = replica_sets(draw, names, count)
        try:
            for manifest, patch in (node(draw, name, sizes) for name in names):
                self._api.create(manifest)
                self._api.patch("nodes", manifest["metadata"]["name"], _without_expelling(patch))
            for manifest in sets:
                self._api.create(manifest)
            self._wait_for_pods(count)
            yield
        finally:
            self._clear(sets, names)

    def _clear(self, sets: list[Manifest], nodes: list[str]) -> None:
        for manifest in sets:
            self._quietly("replicasets", manifest["metadata"]["name"], NAMESPACE)
        wait_until(lambda: not self._pods(), lambda: f"no pods; there are {sorted(self._pods())}")
        for name in nodes:
            self._quietly("nodes", name)

    def _quietly(self, resource: str, name: str, namespace: str | None = None) -> None:
        try:
            self._api.delete(resource, name, namespace)
        except ApiError as error:
            if error.code != 404:
                raise


def _without_expelling(patch: Manifest) -> Manifest:
    """The patch of a node without taints that would drive out pods of a profile that does not look at taints."""
    spec = patch["spec"]
    taints = [taint for taint in spec["taints"] or () if taint["effect"] != "NoExecute"]
    return {"spec": {**spec, "taints": taints or None}}
