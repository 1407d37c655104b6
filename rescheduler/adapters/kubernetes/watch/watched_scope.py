"""A part of the objects of one kind: what a read asks for, and what is proven fresh together."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod

Key: TypeAlias = tuple[str, str]
"""Namespace ("" where the kind has none) and name."""


class WatchedScope(NamedTuple):
    """A part of the objects of one kind: of a namespace, of one name, or pods of one node; "" does not narrow it.

    ``labels``: pods or nodes that it selects; None: whatever labels they have.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    node: str = ""
    labels: LabelSelector | None = None

    @property
    def field_selector(self) -> str:
        """As the API server takes it."""
        parts = [f"metadata.name={self.name}"] if self.name else []
        return ",".join([*parts, *([f"spec.nodeName={self.node}"] if self.node else [])])

    def holds(self, key: Key, found: Any) -> bool:
        """Whether an object is part of it."""
        if self.namespace not in ("", key[0]) or self.name not in ("", key[1]):
            return False
        if self.node and not (isinstance(found, Pod) and found.node_name == self.node):
            return False
        return self.labels is None or (isinstance(found, Pod | Node) and selects(self.labels, found.labels))

    def may_hold(self, key: Key, found: Any) -> bool:
        """The same of an object of which little is known: None where it cannot be read at all."""
        known = self._replace(node="", labels=None) if found is None else self
        return known.holds(key, found)
