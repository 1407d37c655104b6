"""What schedulers demand of nodes beyond what pods say, as data: their configuration decides, ``proof/`` proves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rescheduler.model.objects.constraints import NodeSelectorTerm
from rescheduler.model.objects.resources import is_ignored
from rescheduler.model.usage.usage import UsageWindows


@dataclass(frozen=True)
class LoadLimit:
    """A node takes no pod while its measured load, averaged over ``period_seconds``, is above ``percent``."""

    resource: str
    percent: float
    period_seconds: float


@dataclass(frozen=True)
class SchedulerRules:
    """One scheduler.

    ``filters``: names of the filters that it runs (kube-scheduler's names); None: all of them. ``required_affinity``:
    terms of which one must match a node, whatever the pod itself says; None: nothing is demanded.
    ``ignored_resources``: extended resources that its pods may lack, and ``ignored_groups`` what stands before the
    slash in such resources' names.
    """

    filters: frozenset[str] | None = None
    required_affinity: tuple[NodeSelectorTerm, ...] | None = None
    load_limits: tuple[LoadLimit, ...] = ()
    ignored_resources: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()

    def ignores(self, resource: str) -> bool:
        """Whether nodes may lack a resource that a pod asks for."""
        return is_ignored(resource, self.ignored_resources, self.ignored_groups)


@dataclass(frozen=True, eq=False)
class ArrivalRules:
    """Rules by scheduler name; a scheduler without an entry runs every filter and demands nothing more.

    ``windows``: measured load, aligned with the nodes of the snapshot; None where there is none.
    """

    by_scheduler: Mapping[str, SchedulerRules] = field(default_factory=dict)
    windows: UsageWindows | None = None

    def of(self, scheduler_name: str) -> SchedulerRules:
        """What one scheduler demands."""
        return self.by_scheduler.get(scheduler_name, _EVERY_FILTER)


_EVERY_FILTER = SchedulerRules()
