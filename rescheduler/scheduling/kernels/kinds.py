"""Pods sorted into kinds, and which pods the kernels can serve at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from rescheduler.model.columns.affinity_terms import AffinityTerms
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import SpreadRules
from rescheduler.scheduling.kernels.building import base_of, build_kind
from rescheduler.scheduling.kernels.kind import Kind
from rescheduler.scheduling.kernels.offers import Offers
from rescheduler.scheduling.kernels.recipe import Recipe, recipe_of
from rescheduler.scheduling.profile import Profile
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
