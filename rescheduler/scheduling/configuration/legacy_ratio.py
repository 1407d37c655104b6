"""``requestedToCapacityRatioArguments`` of the legacy Policy, as KEP-964 writes and kube-scheduler read them."""

from __future__ import annotations

from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import quoted
from rescheduler.scheduling.configuration.resource_arguments import RATIO, read_shape
from rescheduler.scheduling.scores import NodeResourcesFit

_LARGEST_WEIGHT = 100


def ratio_score(fields: Fields) -> NodeResourcesFit:
    """Shape and weights; points may stand in any order, a resource is named by ``name`` or ``resource``."""
    shape = read_shape(fields, is_sorted_for_them=True)
    weights: dict[str, int] = {}
    for item in fields.children("resources"):
        name = item.text("name")
        if item.has("resource") and not name:
            name = item.text("resource")
            text = f"{quoted(name)} is named by resource, as in KEP-964; kube-scheduler reads name"
            item.findings.warn(item.at("resource"), text, at_key=True)
        weight = _weight(item, name)
        item.warn_unread("kube-scheduler")
        if not name:
            item.findings.refuse(item.path, "name is missing; write the resource as nodes list it")
        elif name in weights:
            item.findings.refuse(item.path, f"{quoted(name)} is given twice; a resource has one weight")
        weights.setdefault(name, weight)
    fields.warn_unread("kube-scheduler")
    return NodeResourcesFit(RATIO, tuple(weights.items()) or ((CPU, 1), (MEMORY, 1)), shape)


def _weight(fields: Fields, name: str) -> int:
    weight = fields.integer("weight", 1)
    if weight == 0:
        fields.findings.warn(fields.at("weight"), f"a weight of 0 for {quoted(name)} counts as 1; leave it out")
        return 1
    if not 1 <= weight <= _LARGEST_WEIGHT:
        fields.findings.refuse(fields.at("weight"), f"found {weight} for {quoted(name)}; wanted 1 to {_LARGEST_WEIGHT}")
        return 1
    return weight
