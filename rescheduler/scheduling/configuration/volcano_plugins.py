"""Volcano's plugins: what predicates and nodeorder switch on, and what the others leave unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rescheduler.scheduling.configuration.fields import Fields
from rescheduler.scheduling.configuration.findings import choices
from rescheduler.scheduling.configuration.settings import ConfiguredScore, Effect, NotModelled
from rescheduler.scheduling.scores import (
    ImageLocality,
    InterPodAffinity,
    NodeAffinity,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    PodTopologySpread,
    TaintToleration,
)
from rescheduler.scheduling.scores.bin_packing import BinPacking

_PREDICATES: Mapping[str, tuple[str, ...]] = {
    "predicate.NodeAffinityEnable": ("NodeAffinity",),
    "predicate.NodePortsEnable": ("NodePorts",),
    "predicate.TaintTolerationEnable": ("TaintToleration",),
    "predicate.PodAffinityEnable": ("InterPodAffinity",),
    "predicate.NodeVolumeLimitsEnable": ("NodeVolumeLimits",),
    "predicate.VolumeZoneEnable": ("VolumeZone",),
    "predicate.PodTopologySpreadEnable": ("PodTopologySpread",),
    "predicate.VolumeBindingEnable": ("VolumeBinding",),
}
_ORDER = (
    "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeVolumeLimits", "VolumeBinding",
    "VolumeZone", "PodTopologySpread", "InterPodAffinity",
)  # fmt: skip
_NODE_ORDER: Mapping[str, tuple[str, int]] = {
    "leastrequested.weight": ("leastrequested", 1),
    "mostrequested.weight": ("mostrequested", 0),
    "nodeaffinity.weight": ("NodeAffinity", 2),
    "podaffinity.weight": ("InterPodAffinity", 2),
    "balancedresource.weight": ("NodeResourcesBalancedAllocation", 1),
    "tainttoleration.weight": ("TaintToleration", 3),
    "imagelocality.weight": ("ImageLocality", 1),
    "podtopologyspread.weight": ("PodTopologySpread", 2),
}
_SCORES = {
    "leastrequested": NodeResourcesFit("LeastAllocated"),
    "mostrequested": NodeResourcesFit("MostAllocated"),
    "NodeAffinity": NodeAffinity(),
    "InterPodAffinity": InterPodAffinity(),
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocation(),
    "TaintToleration": TaintToleration(),
    "ImageLocality": ImageLocality(),
    "PodTopologySpread": PodTopologySpread(),
}
PROPORTIONAL: Final = "predicate.ProportionalEnable"
_BIN_PACK_RESOURCES = "binpack.resources"

_ORDERS_JOBS = "not modelled, and it only orders jobs: harmless, but pods may be served in another order"
_MAY_WAIT = "not modelled: it decides which jobs may start, so a pod may wait although it fits"
_FILTERS = "not modelled, and it filters nodes: nothing is foretold about its pods and they are not moved"
_SCORES_NODES = "not modelled: its score is unknown: destinations are estimates"
_SHARED_DEVICES = ("volcano.sh/gpu-memory", "volcano.sh/gpu-number", "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory")

MODELLED: Final = ("predicates", "nodeorder", "binpack", "usage")
_NOTES: Mapping[str, tuple[Effect, str]] = {
    "priority": (Effect.HARMLESS, _ORDERS_JOBS),
    "drf": (Effect.HARMLESS, _ORDERS_JOBS),
    "sla": (Effect.HARMLESS, _ORDERS_JOBS),
    "conformance": (Effect.HARMLESS, "not modelled, and it only protects critical pods from eviction: harmless"),
    "pdb": (Effect.HARMLESS, "not modelled, and it only keeps Volcano's own evictions within budgets: harmless"),
    "gang": (Effect.ESTIMATE, "not modelled: members of a group are bound together, here pods are taken one by one"),
    "proportion": (Effect.ESTIMATE, _MAY_WAIT),
    "capacity": (Effect.ESTIMATE, _MAY_WAIT),
    "overcommit": (Effect.ESTIMATE, _MAY_WAIT),
    "resourcequota": (Effect.ESTIMATE, _MAY_WAIT),
    "cdp": (Effect.HARMLESS, "not modelled, and it only delays Volcano's own evictions: harmless"),
    "task-topology": (Effect.ESTIMATE, _SCORES_NODES),
    "resource-strategy-fit": (Effect.ESTIMATE, _SCORES_NODES),
    "rescheduling": (Effect.ESTIMATE, "not modelled: it evicts pods by itself and may undo what is planned here"),
    "network-topology-aware": (Effect.UNKNOWN, _FILTERS),
    "numa-aware": (Effect.UNKNOWN, _FILTERS),
    "numaaware": (Effect.UNKNOWN, _FILTERS),
    "nodegroup": (Effect.UNKNOWN, _FILTERS),
    "tdm": (Effect.UNKNOWN, _FILTERS),
    "extender": (Effect.UNKNOWN, _FILTERS),
    "deviceshare": (Effect.UNKNOWN, "not modelled: pods that ask for shared devices are not foretold and not moved"),
}
KNOWN: Final = [*MODELLED, *_NOTES]


def note_of(plugin: str) -> NotModelled | None:
    """What it means that a plugin runs; None for one that is modelled."""
    if plugin in MODELLED:
        return None
    if plugin not in _NOTES:
        return NotModelled(plugin, Effect.UNKNOWN, f"not known, so it may filter nodes: {_FILTERS.partition(': ')[2]}")
    effect, text = _NOTES[plugin]
    return NotModelled(plugin, effect, text, _SHARED_DEVICES if plugin == "deviceshare" else ())


def proportional_note() -> NotModelled:
    """What it means that the predicates plugin keeps cpu and memory back beside devices."""
    return NotModelled(PROPORTIONAL, Effect.UNKNOWN, _FILTERS)


def predicate_filters(fields: Fields) -> tuple[str, ...]:
    """Filters of the predicates plugin in the order in which it runs them."""
    enabled = {"NodeUnschedulable"}
    for argument, names in _PREDICATES.items():
        if fields.boolean(argument, default=True):
            enabled.update(names)
    for name in ("predicate.CacheEnable", "predicate.DynamicResourceAllocationEnable", PROPORTIONAL):
        fields.boolean(name, default=False)
    for name in list(fields.unread()):
        if name.startswith("predicate.resources"):
            fields.has(name)
    fields.warn_unread("Volcano")
    return tuple(name for name in _ORDER if name in enabled)


def node_order_scores(fields: Fields) -> Iterator[ConfiguredScore]:
    """Scores of the nodeorder plugin; a weight of 0 switches one off."""
    found = []
    for argument, (name, default) in _NODE_ORDER.items():
        weight = fields.integer(argument, default)
        if weight < 0:
            text = f"a weight of {weight} prefers the nodes that score lowest; Volcano takes it as it stands"
            fields.findings.warn(fields.at(argument), text)
        if weight:
            found.append(ConfiguredScore(name, weight, _SCORES[name]))
    fields.warn_unread("Volcano")
    yield from found


def bin_pack_score(fields: Fields) -> Iterator[ConfiguredScore]:
    """The score of the binpack plugin; a weight of 0 switches it off."""
    weight = fields.integer("binpack.weight", 1)
    resources = [
        ("cpu", _resource_weight(fields, "binpack.cpu")),
        ("memory", _resource_weight(fields, "binpack.memory")),
    ]
    listed = [name.strip() for name in fields.text(_BIN_PACK_RESOURCES).split(",") if name.strip()]
    resources += [(name, _resource_weight(fields, f"{_BIN_PACK_RESOURCES}.{name}")) for name in listed]
    for name in list(fields.unread()):
        advice = choices(name, sorted(fields.asked))
        if name.startswith(_BIN_PACK_RESOURCES):
            advice = f"list the resource under {_BIN_PACK_RESOURCES}"
        fields.findings.warn(fields.at(name), f"a field that Volcano does not read; {advice}", at_key=True)
    if weight:
        weighed = tuple((name, each) for name, each in dict(resources).items() if each)
        yield ConfiguredScore("binpack", weight, BinPacking(weighed))


def _resource_weight(fields: Fields, name: str) -> int:
    value = fields.integer(name, 1)
    if value < 0:
        fields.findings.warn(fields.at(name), f"found {value}; Volcano goes by its default, 1")
        return 1
    return value
