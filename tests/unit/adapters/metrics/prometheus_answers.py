"""A Prometheus played by a loopback server that knows some queries by a piece of their text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rescheduler.adapters.metrics.http.http_session import http_session
from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider
from rescheduler.adapters.metrics.prometheus.prometheus_arguments import PrometheusArguments
from tests.builders import NOW, node
from tests.loopback_server import Answer, Request, json_answer, loopback_server


class Known(NamedTuple):
    """Series by ``instance`` that a query gives."""

    values: Mapping[str, Any]
    labels: Mapping[str, str] = {}


def provider_at(address: str, **arguments: Any) -> PrometheusProvider:
    """A provider of this address."""
    read = PrometheusArguments.model_validate({"address": address, "timeout": "2s", **arguments})
    return PrometheusProvider(read, http_session(read, None, provider="Prometheus", address=address))


def rules(cpu: Mapping[str, Any], memory: Mapping[str, Any] | None = None, at: float = NOW) -> dict[str, Known]:
    """The two recording rules, each with its time."""
    found = {"instance:node_cpu:ratio": cpu, "instance:node_memory_utilisation:ratio": memory or cpu}
    return {name: Known(values) for name, values in found.items()} | {
        f"timestamp({name})": Known(dict.fromkeys(values, str(at))) for name, values in found.items()
    }


def vector(known: Known) -> list[dict[str, Any]]:
    """An instant vector."""
    return [
        {"metric": {"instance": instance, **known.labels}, "value": [NOW, value]}
        for instance, value in known.values.items()
    ]


def matrix(known: Known, form: Mapping[str, str]) -> list[dict[str, Any]]:
    """A range vector with the same value at each time."""
    times = range(int(form["start"]), int(form["end"]) + 1, int(float(form["step"])))
    return [
        {"metric": {"instance": instance, **known.labels}, "values": [[at, value] for at in times]}
        for instance, value in known.values.items()
    ]


def answering(known: Mapping[str, Known | Answer], **envelope: Any) -> Callable[[Request], Answer]:
    """Answers these queries, and nothing for others; ``envelope``: what else stands in each answer."""

    def answer(request: Request) -> Answer:
        found = known.get(request.form["query"], Known({}))
        if isinstance(found, Answer):
            return found
        is_range = request.route.endswith("query_range")
        result: Sequence[Any] = matrix(found, request.form) if is_range else vector(found)
        data = {"resultType": "matrix" if is_range else "vector", "result": result}
        return json_answer({"status": "success", "data": data, **envelope})

    return answer


NODES = [node("n1"), node("n2")]
BOTH = rules({"n1:9100": "0.25", "n2:9100": "0.5"})


def sampled(known: Any, envelope: Any = None, **arguments: Any) -> Any:
    """A sample, and the requests it took."""
    with loopback_server(answering(known, **(envelope or {}))) as server:
        found = provider_at(server.address, **arguments).sample(NODES, now=NOW, with_pods=False)
    return found, server.requests
