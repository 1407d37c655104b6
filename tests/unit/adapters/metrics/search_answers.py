"""A provider of Elasticsearch before a server that answers as a test says, and what such a server would say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from rescheduler.adapters.metrics.elasticsearch.elasticsearch import ElasticsearchProvider, elasticsearch_headers
from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics.http.http_session import http_session
from tests.builders import NOW
from tests.loopback_server import Answer, LoopbackServer, Request, json_answer, loopback_server

AT = str(int(NOW * 1000))


@contextmanager
def elasticsearch(
    answer: Callable[[Request], Answer], **arguments: object
) -> Iterator[tuple[ElasticsearchProvider, LoopbackServer]]:
    """A provider, and the server that it asks."""
    with loopback_server(answer) as server:
        read = ElasticsearchArguments.model_validate({"address": server.address, **arguments})
        headers = elasticsearch_headers(read)
        session = http_session(read, None, provider="Elasticsearch", address=server.address, secret_headers=headers)
        yield ElasticsearchProvider(read, session), server


def sources(request: Request) -> str:
    """What the groups of a search are made of."""
    return json.dumps(msgspec.json.decode(request.body)["aggs"]["by"]["composite"]["sources"])


def hit(**fields: object) -> dict[str, Any]:
    """One document's fields; double underscores stand for dots."""
    named = {name.replace("__", "."): [value] for name, value in fields.items()}
    return {"fields": {"@timestamp": [AT], **named}}


def newest(*hits: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of an inner aggregation."""
    return {"doc_count": len(hits), "newest": {"hits": {"hits": list(hits)}}}


EMPTY = {field: newest() for field in ("system.cpu.total.norm.pct", "system.memory.actual.used.pct")}


def page(*buckets: Mapping[str, Any], after: object = None, **further: Any) -> Answer:
    """One page of groups."""
    composite = {"buckets": list(buckets), **({"after_key": after} if after else {})}
    shards = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
    return json_answer({"timed_out": False, "_shards": shards, "aggregations": {"by": composite}} | further)


def host(name: str, cpu: object) -> dict[str, Any]:
    """The group of one host."""
    return {**EMPTY, "key": {"k0": name}, "doc_count": 1, "host.cpu.usage": newest(hit(host__cpu__usage=cpu))}


def serving(cpu: Answer) -> Callable[[Request], Answer]:
    """Answers with this for hosts, and with nothing for all else."""
    return lambda request: page() if '"k1"' in sources(request) else cpu
