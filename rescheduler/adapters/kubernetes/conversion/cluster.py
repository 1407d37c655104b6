"""Collects converted objects and puts them together as one Cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from rescheduler.adapters.kubernetes.conversion.assembly import CLUSTER_WIDE, assembled, with_classes
from rescheduler.adapters.kubernetes.conversion.object_conversion import ObjectConversion, lacks_priority
from rescheduler.adapters.kubernetes.conversion.pod_facts import PodTally
from rescheduler.adapters.kubernetes.conversion.warnings import Warnings
from rescheduler.adapters.kubernetes.decoding.errors import ObjectError
from rescheduler.model.cluster import Cluster
from rescheduler.model.pod import Pod

_IGNORED_FIELDS: Final = ("resource_version",)
_by_name: Final = attrgetter("name")
_by_namespace: Final = attrgetter("namespace", "name")


class ClusterBuilder:
    """Takes decoded objects of all kinds in any order. ``taken_at`` and the like are told at the end."""

    def __init__(self) -> None:
        """One instance for one snapshot."""
        self._warnings = Warnings()
        self._found: dict[str, list[Any]] = defaultdict(list)
        self._without_priority: list[Pod] = []
        self._conversion = ObjectConversion(self._warnings.add)

    def add(self, kind: str, found: Any) -> None:
        """Convert one decoded object. Raises ObjectError with the object's name."""
        is_lacking = lacks_priority(kind, found)
        made = self._conversion.convert(kind, found)
        self._found[kind].append(made)
        if is_lacking:
            self._without_priority.append(made)

    def forget(self, kind: str) -> None:
        """Drop all objects of a kind, to read them again."""
        self._found.pop(kind, None)
        if kind == "Pod":
            self._without_priority.clear()

    def warn(self, text: str) -> None:
        """Add a warning to the snapshot's."""
        self._warnings.add(text)

    def count(self, kind: str) -> int:
        """How many objects of a kind were taken."""
        return len(self._found.get(kind, ()))

    def build(self, *, taken_at: float, source: str, server_version: str | None = None) -> Cluster:
        """The snapshot. Raises ObjectError when two objects of one name differ."""
        objects = {kind: tuple(self._sorted(kind)) for kind in self._found if kind != "Pod"}
        self._found["Pod"] = list(
            with_classes(self._found["Pod"], self._without_priority, self._found["PriorityClass"], self._warnings)
        )
        objects["Pod"] = tuple(self._sorted("Pod"))
        facts = PodTally(objects["Pod"]).facts()
        return assembled(
            objects, facts, self._warnings, taken_at=taken_at, source=source, server_version=server_version
        )

    def _sorted(self, kind: str) -> list[Any]:
        """Objects of a kind in order, equal ones once. Raises ObjectError for different ones of one name."""
        key: Callable[[Any], Any] = _by_name if kind in CLUSTER_WIDE else _by_namespace
        found = sorted(self._found.get(kind, ()), key=key)
        if len({key(item) for item in found}) == len(found):
            return found
        once = []
        for _, group in groupby(found, key):
            first, *others = group
            for other in others:
                _refuse_differing(kind, first, other)
            once.append(first)
        return once


def _refuse_differing(kind: str, first: Any, second: Any) -> None:
    names = [name for name in first.__struct_fields__ if name not in _IGNORED_FIELDS]
    differing = [name for name in names if getattr(first, name) != getattr(second, name)]
    if differing:
        label = f"{kind} {f'{first.namespace}/' if hasattr(first, 'namespace') else ''}{first.name}"
        raise ObjectError("", f"stands twice, with different {', '.join(differing)}; keep one of them", label)
