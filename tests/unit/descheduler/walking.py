"""A cycle of one plugin on a cluster that a test builds."""

from __future__ import annotations

import json
from typing import Any

from rescheduler.descheduler.cycle import CycleLimits, CycleResult, DeschedulerProfile, EnabledPlugin, run_cycle
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.model.objects.cluster import Cluster


def walk(
    cluster: Cluster,
    plugin: str,
    arguments: dict[str, Any] | None = None,
    evictor: dict[str, Any] | None = None,
    limits: CycleLimits = CycleLimits(),  # noqa: B008 - frozen
    threshold: int | None = None,
    providers: frozenset[str] = frozenset({"KubernetesMetrics", "Prometheus"}),
) -> CycleResult:
    """One cycle with one plugin in one profile."""
    kind = PLUGINS[plugin]
    enabled = (EnabledPlugin(plugin, kind.arguments.model_validate_json(json.dumps(arguments or {})), kind.run),)
    profile = DeschedulerProfile(
        name="p",
        evictor=DefaultEvictorArguments.model_validate_json(json.dumps(evictor or {})),
        threshold=threshold,
        targets=None,
        deschedule=enabled if kind.point == "deschedule" else (),
        balance=enabled if kind.point == "balance" else (),
    )
    return run_cycle(cluster, [profile], None, limits, providers)


def victims(cluster: Cluster, plugin: str, arguments: dict[str, Any] | None = None, **given: Any) -> list[str]:
    """Names of the pods that the API server would let go, in order."""
    result = walk(cluster, plugin, arguments, **given)
    return [chosen.pod.name for chosen in result.chosen if chosen.refusal is None]
