"""A pod goes only to nodes that its node selector and its required node affinity name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.selectors import NAME_FIELD
from rescheduler.model.objects.constraints import NodeSelectorTerm
from rescheduler.scheduling.plugin import SchedulerFilter

UNMATCHED = "node(s) didn't match Pod's node affinity/selector"
CONFLICT = "pod affinity terms conflict"
RULED_OUT = "node(s) didn't satisfy plugin(s) [NodeAffinity]"


class NodeAffinity(SchedulerFilter):
    """Binds at scheduling time only: a running pod may sit on a node that it no longer matches."""

    name = "NodeAffinity"
    predicates = ("GeneralPredicates", "MatchNodeSelector")
    volcano_switch = "predicate.NodeAffinityEnable"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes that do not match; those of other names first, where every term names its nodes."""
        columns = placement.columns
        spec = columns.shapes[columns.shape_of[pod]]
        required = spec.node_affinity.required if spec.node_affinity else None
        unmatched = ~columns.node_table.demanded(spec.node_selector, required)
        names = named_nodes(required) if required is not None else None
        if names is None:
            return (Rejection(UNMATCHED, unmatched, is_resolvable=False),)
        if not names:
            everywhere = np.ones(columns.node_count, dtype=np.bool_)
            return (Rejection(CONFLICT, everywhere, is_resolvable=False, scope="pod"),)
        others = np.array([node.name not in names for node in columns.cluster.nodes], dtype=np.bool_)
        return (
            Rejection(RULED_OUT, others, is_resolvable=False, scope="selection"),
            Rejection(UNMATCHED, unmatched & ~others, is_resolvable=False),
        )


def named_nodes(terms: Sequence[NodeSelectorTerm]) -> set[str] | None:
    """Names of the only nodes that can match, where each term gives names; None where some term gives none."""
    if not terms:
        return None
    names: set[str] = set()
    for term in terms:
        given = [set(rule.values) for rule in term.fields if rule.key == NAME_FIELD and rule.operator == "In"]
        if not given:
            return None
        names |= set.intersection(*given)
    return names
