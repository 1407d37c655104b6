"""What of a plugin's arguments descheduler takes without a word, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.plugins.node_rules import PREFERRED, REQUIRED, NodeAffinityArguments
from rescheduler.descheduler.plugins.node_utilization import LowNodeUtilizationArguments
from rescheduler.descheduler.plugins.usage_sources import KUBERNETES_METRICS, PROMETHEUS
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.resources import CPU, MEMORY, PODS
from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Path

MEASURED: Final = (CPU, MEMORY, PODS)
SOURCES: Final = (KUBERNETES_METRICS, PROMETHEUS)
AFFINITY_TYPES: Final = (REQUIRED, PREFERRED)


def argument_findings(arguments: DeschedulerArguments) -> Iterator[tuple[Path, str]]:
    """Place below ``args``, and text."""
    if isinstance(arguments, DefaultEvictorArguments):
        yield from _of_evictor(arguments)
    elif isinstance(arguments, NodeAffinityArguments):
        for number, kind in enumerate(arguments.node_affinity_type):
            if kind not in AFFINITY_TYPES:
                known = ", ".join(AFFINITY_TYPES)
                yield (
                    ("nodeAffinityType", number),
                    f"{printable(kind, 60)!r} is no type of node affinity, and does nothing; there are {known}",
                )
    elif isinstance(arguments, LowNodeUtilizationArguments) and arguments.metrics_utilization is not None:
        metrics = arguments.metrics_utilization
        if metrics.metrics_server:
            yield ("metricsUtilization", "metricsServer"), "deprecated; write source: KubernetesMetrics"
        if metrics.provider and metrics.provider not in SOURCES:
            text = f"no source {printable(metrics.source, 60)!r}; there are {', '.join(SOURCES)}"
            yield ("metricsUtilization", "source"), f"{text}: it ends with an error in every cycle"
        if metrics.provider == KUBERNETES_METRICS:
            for name in sorted(set(arguments.thresholds).difference(MEASURED)):
                text = "KubernetesMetrics measures cpu, memory and pods alone: it ends with an error in every cycle"
                yield ("thresholds", name), text


def _of_evictor(evictor: DefaultEvictorArguments) -> Iterator[tuple[Path, str]]:
    if evictor.min_replicas == 1:
        yield ("minReplicas",), "1 has no effect; it acts from 2 on"
    if evictor.node_selector and not evictor.node_fit:
        yield ("nodeSelector",), "has no effect without nodeFit: true"
    elif evictor.node_selector:
        try:
            parse_label_selector(evictor.node_selector)
        except ValueError as error:
            yield ("nodeSelector",), f"{error}: with nodeFit nobody is evicted"
    lists = evictor.pod_protections
    if lists.config is not None and "PodsWithPVC" not in lists.extra_enabled:
        yield ("podProtections", "config"), "has no effect without extraEnabled: [PodsWithPVC]"
    if evictor.priority_threshold is not None and "SystemCriticalPods" not in evictor.protections:
        yield ("priorityThreshold",), "has no effect while the protection SystemCriticalPods is off"
    if "PodsWithoutPDB" in evictor.protections:
        yield (), "PodsWithoutPDB protects every pod: upstream never fills its list of budgets"
    for name in evictor.deprecated:
        yield (name,), "deprecated; podProtections replaces it"
