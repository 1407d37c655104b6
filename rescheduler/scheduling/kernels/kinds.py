"""Pods sorted into kinds, and which pods the kernels can serve at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

import numpy as np

from rescheduler.model.columns.affinity_terms import AffinityTerms
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import SpreadRules
from rescheduler.model.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY
from rescheduler.scheduling.filters.node_resources_fit import checked_rows
from rescheduler.scheduling.kernels.kind import LEAST, MOST, RATIO, REFUSED, Kind, table
from rescheduler.scheduling.kernels.offers import FloatArray, Offers
from rescheduler.scheduling.kernels.recipe import Recipe, recipe_of
from rescheduler.scheduling.profile import Profile
from rescheduler.scheduling.scores.node_resources_fit import LEAST as LEAST_ALLOCATED
from rescheduler.scheduling.scores.node_resources_fit import MOST as MOST_ALLOCATED
from rescheduler.scheduling.scores.node_resources_fit import RATIO as CAPACITY_RATIO
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit, along_shape
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread


class Kinds:
    """Kinds of the pods of one cluster under its schedulers' profiles, found when first asked for."""

    def __init__(
        self,
        columns: Columns,
        profiles: Mapping[str, Profile],
        static: Callable[[int], BoolArray],
        static_key: Callable[[int], Hashable],
    ) -> None:
        """``static``: nodes that the static filters leave to a pod; ``static_key``: pods with equal keys share them."""
        self._columns = columns
        self._static, self._static_key = static, static_key
        is_exact = columns.facts(Offers).is_exact
        self._recipes = {name: recipe_of(profile) if is_exact else None for name, profile in profiles.items()}
        self._of_pod: dict[int, Kind | None] = {}
        self._is_free: dict[Hashable, bool] = {}
        self._shape_parts: dict[int, int] = {}
        self._parts: dict[Hashable, int] = {}
        self._kinds: dict[Hashable, Kind] = {}
        self._bases: dict[Hashable, IntArray] = {}

    def of(self, pod: int) -> Kind | None:
        """The pod's kind; None if where other pods are matters to it, or its profile is beyond the kernels."""
        if pod in self._of_pod:
            return self._of_pod[pod]
        found = self._of_pod[pod] = self._find(pod)
        return found

    def _find(self, pod: int) -> Kind | None:
        columns = self._columns
        subject, shape = columns.cluster.pods[pod], int(columns.shape_of[pod])
        recipe = self._recipes.get(subject.spec.scheduler_name)
        if recipe is None or subject.spec.unmodelled or subject.volumes or subject.spec.host_ports:
            return None
        owner = subject.controller
        tied = (shape, int(columns.label_set_of[pod]), owner.uid if owner else "")
        if tied not in self._is_free:
            self._is_free[tied] = self._is_free_of_ties(pod, recipe)
        if not self._is_free[tied]:
            return None
        static_key = self._static_key(pod)
        key = (static_key, self._shape_part(shape))
        found = self._kinds.get(key)
        if found is None:
            base = self._base(pod, static_key, recipe)
            found = build_kind(len(self._kinds), pod, recipe, self._static(pod), base, columns)
            self._kinds[key] = found
        return found

    def _base(self, pod: int, static_key: Hashable, recipe: Recipe) -> IntArray:
        """Fixed scores, shared by all kinds that they are equal for."""
        spec = self._columns.cluster.pods[pod].spec
        key = (static_key, spec.images, spec.container_count)
        found = self._bases.get(key)
        if found is None:
            found = self._bases[key] = base_of(pod, recipe, self._static(pod), self._columns)
        return found

    def _is_free_of_ties(self, pod: int, recipe: Recipe) -> bool:
        """Whether no filter and no score looks at where other pods are."""
        spec, placement = self._columns.cluster.pods[pod].spec, self._as_read
        if spec.affinity or spec.anti_affinity or spec.preferred_affinity or spec.preferred_anti_affinity:
            return False  # what the filters and terms below would say, only later
        if any(plugin.reject(pod, placement) for plugin in recipe.ties):
            return False
        terms = self._columns.facts(AffinityTerms)
        label_set = int(self._columns.label_set_of[pod])
        if terms.preferred.about(label_set) or terms.affinity.about(label_set):
            return False
        return not any(isinstance(score, PodTopologySpread) and self._spreads(pod, score) for score in recipe.of_others)

    def _spreads(self, pod: int, score: PodTopologySpread) -> bool:
        """Whether the score follows any constraint, the pod's own or a default one."""
        rules = self._columns.facts(SpreadRules)
        if self._columns.shapes[self._columns.shape_of[pod]].topology_spread:
            return bool(rules.own(pod, "ScheduleAnyway"))
        return bool(rules.defaults(pod, tuple(r for r in score.defaults if r.when_unsatisfiable == "ScheduleAnyway")))

    def _shape_part(self, shape: int) -> int:
        """A number for what a shape says beyond what static filters look at."""
        found = self._shape_parts.get(shape)
        if found is None:
            columns = self._columns
            spec = columns.shapes[shape]
            part = (
                columns.requests[:, shape].tobytes(),
                columns.scored_requests[:, shape].tobytes(),
                columns.arriving_requests[:, shape].tobytes(),
                spec.node_affinity.preferred if spec.node_affinity else (),
                spec.images,
                spec.container_count,
            )
            found = self._shape_parts[shape] = self._parts.setdefault(part, len(self._parts))
        return found

    @property
    def _as_read(self) -> Placement:
        return self._columns.facts(Placement)


_STRATEGIES = {LEAST_ALLOCATED: LEAST, MOST_ALLOCATED: MOST, CAPACITY_RATIO: RATIO}


def build_kind(number: int, pod: int, recipe: Recipe, static: BoolArray, base: IntArray, columns: Columns) -> Kind:
    """The kind that a pod, free of ties to others, stands for; ``base`` as ``base_of`` gives it."""
    fit_weight, fit = recipe.fit or (0, NodeResourcesFit(resources=()))
    fit_rows = _fit_rows(pod, fit, columns)
    balance_weight, changes, balance_rows = 0, False, []
    if recipe.balance is not None:
        balance_weight, balance = recipe.balance
        changes, balance_rows = balance.scores_change, _balance_rows(pod, balance.resources, columns)
    shape = columns.shape_of[pod]
    return Kind(
        number=number,
        static=static,
        base=base,
        checks=table(_checks(pod, columns) if recipe.checks_room else [], 2),
        fit=table(fit_rows, 3),
        balance=table(balance_rows, 2),
        points=_points(fit),
        shares=tuple(_shares_of_largest(pod, recipe, static, columns)),
        settings=np.array([_STRATEGIES[fit.strategy], fit_weight, balance_weight, changes], dtype=np.int64),
        is_plain=fit.strategy != CAPACITY_RATIO and _are_plain(fit_rows, balance_rows, columns),
        requests=np.concatenate((columns.requests[:, shape], columns.scored_requests[:, shape])),
    )


def _are_plain(fit_rows: list[tuple[int, ...]], balance_rows: list[tuple[int, ...]], columns: Columns) -> bool:
    rows = [row % len(columns.resources) for _, row, _ in fit_rows] + [row for row, _ in balance_rows]
    return len(fit_rows) == len(balance_rows) == 2 and columns.facts(Offers).are_plain(rows)


def _checks(pod: int, columns: Columns) -> list[tuple[int, ...]]:
    requests = columns.requests[:, columns.shape_of[pod]]
    return [(row, int(requests[row])) for row in columns.facts(checked_rows) if requests[row] > 0]


def _counting_rows(pod: int, resources: tuple[tuple[str, int], ...], columns: Columns) -> list[tuple[int, int, bool]]:
    """Row, weight, and whether it is cpu or memory, of the resources that count in a pod's scores."""
    found = []
    for name, weight in resources:
        row = columns.resource_index.get(name)
        is_basic = name in (CPU, MEMORY)
        always = is_basic or name == EPHEMERAL_STORAGE
        if row is not None and (always or columns.requests[row, columns.shape_of[pod]]):
            found.append((row, weight, is_basic))
    return found


def _fit_rows(pod: int, fit: NodeResourcesFit, columns: Columns) -> list[tuple[int, ...]]:
    shape, count = columns.shape_of[pod], len(columns.resources)
    return [
        (weight, row + count, int(columns.arriving_requests[row, shape]))
        if is_basic
        else (weight, row, int(columns.requests[row, shape]))
        for row, weight, is_basic in _counting_rows(pod, fit.resources, columns)
    ]


def _balance_rows(pod: int, resources: tuple[tuple[str, int], ...], columns: Columns) -> list[tuple[int, ...]]:
    """Rows and requests; none for a pod that asks for none of the resources, which scores 0 everywhere."""
    requests = columns.requests[:, columns.shape_of[pod]]
    rows: list[tuple[int, ...]] = [(row, int(requests[row])) for row, _, _ in _counting_rows(pod, resources, columns)]
    return rows if any(request for _, request in rows) else []


def _points(fit: NodeResourcesFit) -> FloatArray:
    percent = np.arange(101, dtype=np.int64)
    return (along_shape(fit.shape, percent) if fit.strategy == CAPACITY_RATIO else percent).astype(float)


def base_of(pod: int, recipe: Recipe, static: BoolArray, columns: Columns) -> IntArray:
    """Scores that depend neither on the feasible set nor on use, weighted, int64[N]; REFUSED outside ``static``."""
    total = np.where(static, 0, REFUSED)
    for weight, plugin in recipe.whole:
        total[static] += weight * plugin.score(pod, columns.facts(Placement), static)[static]
    return total


def _shares_of_largest(
    pod: int, recipe: Recipe, static: BoolArray, columns: Columns
) -> Iterator[tuple[IntArray, int, bool]]:
    """Raw scores that tell nodes apart: one equal on all of them adds the same to each total."""
    for weight, plugin in recipe.by_largest:
        raw = plugin.raw(pod, columns)
        assert raw is not None
        among = raw[static]
        if among.size and among.min() != among.max():
            yield raw, weight, plugin.inverts
