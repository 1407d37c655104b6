"""Volcano's plugins: what predicates and nodeorder switch on, and what the others leave unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from rescheduler.scheduling.configuration.settings import ConfiguredScore, Effect, NotModelled
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.plugin import SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.scores import SCORES

PROPORTIONAL: Final = "predicate.ProportionalEnable"
# Volcano checks this whatever its predicates plugin is told.
_WITHOUT_SWITCH = "NodeUnschedulable"

_ORDERS_JOBS = "not modelled, and it only orders jobs: harmless, but pods may be served in another order"
_MAY_WAIT = "not modelled: it decides which jobs may start, so a pod may wait although it fits"
_FILTERS = "not modelled, and it filters nodes: no prediction about its pods and they are not moved"
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
    "deviceshare": (
        Effect.UNKNOWN,
        "not modelled: no prediction about pods that ask for shared devices and they are not moved",
    ),
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
    enabled = []
    for plugin in DEFAULT_FILTERS:
        switch = plugin.volcano_switch
        if plugin.name == _WITHOUT_SWITCH or (switch and fields.boolean(switch, default=True)):
            enabled.append(plugin.name)
    for name in ("predicate.CacheEnable", "predicate.DynamicResourceAllocationEnable", PROPORTIONAL):
        fields.boolean(name, default=False)
    for name in list(fields.unread()):
        if name.startswith("predicate.resources"):
            fields.has(name)
    fields.warn_unread("Volcano")
    return tuple(enabled)


@cache
def _all_scores() -> tuple[type[SchedulerScore], ...]:
    return tuple(map(SCORES.get, SCORES.own))


def node_order_scores(fields: Fields) -> Iterator[ConfiguredScore]:
    """Scores of the nodeorder plugin; a weight of 0 switches one off."""
    found = []
    for score in _all_scores():
        for order in score.node_order:
            weight = fields.integer(order.argument, order.weight)
            if weight < 0:
                text = f"a weight of {weight} prefers the nodes that score lowest; Volcano takes it as it stands"
                fields.findings.warn(fields.at(order.argument), text)
            if weight:
                found.append(ConfiguredScore(order.name, weight, score.of(**order.settings)))
    fields.warn_unread("Volcano")
    yield from found
