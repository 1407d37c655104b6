"""A decoded PodDisruptionBudget as the model's, with the reason why its count cannot be trusted."""

from __future__ import annotations

from rescheduler.adapters.kubernetes.conversion.metadata import name_of, namespace_of
from rescheduler.adapters.kubernetes.conversion.selectors import label_selector, unknown_rules
from rescheduler.adapters.kubernetes.decoding.metadata import ObjectMeta
from rescheduler.adapters.kubernetes.decoding.workload import (
    DisruptionBudgetObject,
    DisruptionBudgetSpec,
    DisruptionBudgetStatus,
)
from rescheduler.model.constraints import LabelSelector
from rescheduler.model.workload import DisruptionBudget


def disruption_budget(found: DisruptionBudgetObject) -> DisruptionBudget:
    """One budget. Raises ObjectError."""
    meta = found.metadata or ObjectMeta()
    spec, status = found.spec or DisruptionBudgetSpec(), found.status or DisruptionBudgetStatus()
    selector = label_selector(spec.selector)
    problem = _problem(selector, status)
    return DisruptionBudget(
        namespace=namespace_of(meta),
        name=name_of(meta),
        uid=meta.uid or "",
        selector=selector,
        disruptions_allowed=0 if problem else status.disruptions_allowed or 0,
        current_healthy=status.current_healthy or 0,
        desired_healthy=status.desired_healthy or 0,
        expected_pods=status.expected_pods or 0,
        generation=meta.generation or 0,
        observed_generation=status.observed_generation or 0,
        disrupted_pods=tuple(sorted(status.disrupted_pods or ())),
        unhealthy_pod_eviction_policy=spec.unhealthy_pod_eviction_policy or "IfHealthyBudget",
        min_available=None if spec.min_available is None else str(spec.min_available),
        max_unavailable=None if spec.max_unavailable is None else str(spec.max_unavailable),
        problem=problem,
    )


def _problem(selector: LabelSelector | None, status: DisruptionBudgetStatus) -> str | None:
    unknown = unknown_rules(selector)
    if unknown:
        return f"its selector has {unknown[0]}"
    if status.disruptions_allowed is None and status.expected_pods is None and status.observed_generation is None:
        return "it has no status yet"
    if (status.disruptions_allowed or 0) < 0:
        return f"status.disruptionsAllowed is {status.disruptions_allowed}"
    return None
