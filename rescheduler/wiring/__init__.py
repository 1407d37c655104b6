"""Puts concrete parts together for each command; the only place that names adapters, simulator and executor at once.

Each part is loaded when it is first asked for: a watcher that starts anew must not wait for the planner's libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rescheduler.wiring.checking import check_files as check_files
    from rescheduler.wiring.cluster_source import ClusterOptions as ClusterOptions
    from rescheduler.wiring.cluster_source import clean as clean
    from rescheduler.wiring.cluster_source import clean_stale as clean_stale
    from rescheduler.wiring.cluster_source import read_cluster as read_cluster
    from rescheduler.wiring.cluster_source import record as record
    from rescheduler.wiring.cluster_source import unchosen_context as unchosen_context
    from rescheduler.wiring.glance import UsageGlance as UsageGlance
    from rescheduler.wiring.ledgers import earlier_evictions as earlier_evictions
    from rescheduler.wiring.metrics import token_reader as token_reader
    from rescheduler.wiring.past import past as past
    from rescheduler.wiring.planning import SimulationReport as SimulationReport
    from rescheduler.wiring.planning import apply as apply
    from rescheduler.wiring.planning import plan as plan
    from rescheduler.wiring.planning import simulate as simulate
    from rescheduler.wiring.scheduler_sources import NamedConfiguration as NamedConfiguration
    from rescheduler.wiring.scheduler_sources import Predictions as Predictions
    from rescheduler.wiring.scheduler_sources import predictions as predictions
    from rescheduler.wiring.usage import usage_windows as usage_windows
    from rescheduler.wiring.watching import UsageWatch as UsageWatch
    from rescheduler.wiring.what_if import Change as Change
    from rescheduler.wiring.what_if import plan_what_if as plan_what_if

_PARTS: Final = {
    "checking": ("check_files",),
    "cluster_source": ("ClusterOptions", "clean", "clean_stale", "read_cluster", "record", "unchosen_context"),
    "glance": ("UsageGlance",),
    "ledgers": ("earlier_evictions",),
    "metrics": ("token_reader",),
    "past": ("past",),
    "planning": ("SimulationReport", "apply", "plan", "simulate"),
    "scheduler_sources": ("NamedConfiguration", "Predictions", "predictions"),
    "usage": ("usage_windows",),
    "watching": ("UsageWatch",),
    "what_if": ("Change", "plan_what_if"),
}
"""Names above by module, for the interpreter."""
_MODULE_OF: Final = {name: module for module, names in _PARTS.items() for name in names}


def __getattr__(name: str) -> Any:
    """The part of that name, from its module; called for names that are not loaded yet (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value
