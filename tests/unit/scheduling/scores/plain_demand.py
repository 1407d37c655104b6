"""Requests and limits of one pod as the Trimaran plugins sum them, in plain Python."""

from __future__ import annotations

from rescheduler.model.objects.pod import PodSpec
from tests.unit.scheduling.scores.plain_loads import MEASURED, amount_of, split


def plain_demand(spec: PodSpec) -> tuple[list[int], list[int]]:
    """Requests and limits for cpu and memory."""
    requests, limits = [], []
    for resource in MEASURED:
        overhead = amount_of(spec.overhead, resource)
        app = [item for item in split(spec) if item.kind == "App"]
        first = [item for item in split(spec) if item.kind != "App"]
        running = sum(amount_of(item.requests, resource) for item in app)
        request = max([running, *(amount_of(item.requests, resource) for item in first)]) + overhead
        bound = sum(amount_of(item.limits, resource) for item in app)
        limit = max([bound, *(amount_of(item.limits, resource) for item in first)]) + overhead
        requests.append(request)
        limits.append(max(request, limit))
    return requests, limits
