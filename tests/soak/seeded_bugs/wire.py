"""Bugs below the executor: in what failures of the transport mean, and in the writes that ask for a version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from urllib3.exceptions import ProxyError, SSLError

from rescheduler.adapters.kubernetes.client import transport_failures
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.kubernetes.eviction import evictor
from rescheduler.extension_points import ClusterError, EvictionAnswer
from tests.soak.seeded_bugs.seams import SeededBug, changed, changed_everywhere

CALM: Final = {"fault_rate": 0.0, "episodes": 0.0, "kills": 0.0, "malice": 0.1}
RESETS: Final = (("evict", "reset after"),) * 60
FAILURES: Final = (("evict", "5xx after"),) * 20


def _tls_says_no(original: Any) -> Any:
    @contextmanager
    def failures(server: str, method: str, path: str) -> Iterator[None]:
        try:
            with original(server, method, path):
                yield
        except OutcomeUnknownError as error:
            if isinstance(error.__cause__, SSLError | ProxyError):
                raise ClusterError(str(error)) from error
            raise

    return failures


def _server_errors_are_refusals(original: Any) -> Any:
    def classify(response: Any) -> EvictionAnswer:
        found: EvictionAnswer = original(response)
        return EvictionAnswer("TooManyRequests", found.message) if response.status in (502, 503, 504) else found

    return classify


def _asking_no_version(original: Any) -> Any:
    def send(self: Connection, method: str, path: str, body: Any = None, **named: Any) -> Any:
        if method == "PUT":
            metadata = {key: value for key, value in body["metadata"].items() if key != "resourceVersion"}
            body = {**body, "metadata": metadata}
        return original(self, method, path, body, **named)

    return send


BUGS: Final = (
    SeededBug(
        "TLS says no", "a TLS or proxy failure after the request is taken for a refusal", ("I1", "I20", "I26"),
        changed_everywhere(transport_failures, "transport_failures", _tls_says_no), settings={**CALM, "forced": RESETS},
    ),
    SeededBug(
        "502 is a refusal", "an answer of 502, 503 or 504 is classified as a busy server", ("I1", "I20", "I26"),
        changed(evictor, "classify", _server_errors_are_refusals), settings={**CALM, "forced": FAILURES},
    ),
    SeededBug(
        "last one wins", "the ledger is replaced whoever has written since", ("I1", "I8", "I20", "I21"),
        changed(Connection, "send", _asking_no_version), settings={"processes": 3, "malice": 0.0},
    ),
)  # fmt: skip
