"""Puts concrete parts together for each command; the only room that names adapters, embedded cluster and
executor at once.

Each part is loaded when it is first asked for: a watcher that starts anew must not wait for the planner's libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rescheduler.composition.checking import check_files as check_files
    from rescheduler.composition.cluster_source import ClusterOptions as ClusterOptions
    from rescheduler.composition.cluster_source import clean as clean
    from rescheduler.composition.cluster_source import clean_stale as clean_stale
    from rescheduler.composition.cluster_source import read_cluster as read_cluster
    from rescheduler.composition.cluster_source import record as record
    from rescheduler.composition.cluster_source import unchosen_context as unchosen_context
    from rescheduler.composition.history import past as past
    from rescheduler.composition.ledgers import earlier_evictions as earlier_evictions
    from rescheduler.composition.metrics import token_reader as token_reader
    from rescheduler.composition.planning import SimulationReport as SimulationReport
    from rescheduler.composition.planning import apply as apply
    from rescheduler.composition.planning import plan as plan
    from rescheduler.composition.planning import simulate as simulate
    from rescheduler.composition.recorded_load import usage_windows as usage_windows
    from rescheduler.composition.scheduler_sources import NamedConfiguration as NamedConfiguration
    from rescheduler.composition.scheduler_sources import Predictions as Predictions
    from rescheduler.composition.scheduler_sources import predictions as predictions
    from rescheduler.composition.usage_view import UsageGlance as UsageGlance
    from rescheduler.composition.watching import UsageWatch as UsageWatch
    from rescheduler.composition.what_if import Change as Change
    from rescheduler.composition.what_if import plan_what_if as plan_what_if


_PARTS: Final = {
    "checking": ("check_files",),
    "cluster_source": ("ClusterOptions", "clean", "clean_stale", "read_cluster", "record", "unchosen_context"),
    "usage_view": ("UsageGlance",),
    "ledgers": ("earlier_evictions",),
    "metrics": ("token_reader",),
    "history": ("past",),
    "planning": ("SimulationReport", "apply", "plan", "simulate"),
    "scheduler_sources": ("NamedConfiguration", "Predictions", "predictions"),
    "recorded_load": ("usage_windows",),
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
