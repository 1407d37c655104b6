"""Prometheus' answer to one instant query, as descheduler takes it: a value for each ``instance``."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.metrics.http.http_session import HttpSession
from rescheduler.extension_points import MetricsError
from rescheduler.model.printable import printable
from rescheduler.model.usage.measured_use import QueryAnswer

_INSTANCE = "instance"


def ask_now(session: HttpSession, query: str) -> QueryAnswer:
    """Ask; a server that gives no answer is a problem of the answer."""
    try:
        return read_answer(session.post_form("/api/v1/query", {"query": query}))
    except MetricsError as error:
        return QueryAnswer(problem=str(error))


def is_answer(document: Any) -> bool:
    """Whether this is an answer of Prometheus' HTTP API at all."""
    return isinstance(document, dict) and "status" in document and isinstance(document.get("data"), dict)


def read_answer(document: Any) -> QueryAnswer:
    """The values of an instant vector by ``instance``; of anything else what it is."""
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or data.get("resultType") != "vector" or not isinstance(data.get("result"), list):
        found = data.get("resultType") if isinstance(data, dict) else document
        return QueryAnswer(problem=f"Prometheus' answer is {printable(repr(found), 60)}; wanted a vector")
    values = {}
    for sample in data["result"]:
        try:
            values[str(sample["metric"][_INSTANCE])] = float(sample["value"][1])
        except KeyError:
            return QueryAnswer(problem="a sample of Prometheus' answer has no label instance")
        except (TypeError, ValueError, IndexError):
            return QueryAnswer(problem=f"a sample of Prometheus' answer is {printable(repr(sample), 60)}")
    return QueryAnswer(values)
