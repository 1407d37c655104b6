"""An API server behind the product's own connection: it answers in bytes, and one of its answers goes wrong."""

from __future__ import annotations

import gzip
import json
import ssl
from collections.abc import Callable, Mapping
from http.client import RemoteDisconnected
from threading import Lock
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import urllib3.exceptions as failures

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.credentials import Endpoint
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from tests.clocks import FakeClock
from tests.unit.adapters.kubernetes.api_server import HOLDS, JOBS, ApiServer

SERVER: Final = "https://cluster"
ACCOUNT: Final = SimpleNamespace(get_api_key_with_prefix=lambda *_, **__: "Bearer of-a-test")
DATE: Final = "Fri, 01 May 2026 11:00:00 GMT"


class Answer(NamedTuple):
    """As it comes over the line. ``breaks``: what reading its body ends with."""

    status: int
    body: bytes
    headers: Mapping[str, str] = {}
    breaks: Exception | None = None


class Fault(NamedTuple):
    """``told``: what comes in the place of an honest answer, or the exception with which none begins.

    ``is_before``: the request has had no effect. ``is_lost``: a server or a line that failed, so that nobody knows.
    ``is_rubbish``: the status says that all went well, and the body is not what was asked for; ``is_object``: as a
    write is answered, which only the status tells apart from an honest answer.
    """

    told: Callable[[Answer], Answer | Exception]
    is_before: bool = False
    is_lost: bool = False
    is_rubbish: bool = False
    is_object: bool = False


def _lost(told: Callable[[Answer], Answer | Exception]) -> Fault:
    return Fault(told, is_lost=True)


def _rubbish(body: bytes, *, is_object: bool = False) -> Fault:
    return Fault(lambda _: Answer(200, body), is_rubbish=True, is_object=is_object)


def _refused(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Fault:
    return Fault(lambda _: Answer(status, body, headers or {}), is_before=True, is_lost=status >= 500)


PAGE: Final = b"<html><body>Bad gateway</body></html>"
FAULTS: Final[Mapping[str, Fault]] = {
    "nobody listens": Fault(lambda _: failures.NewConnectionError(None, "refused"), is_before=True),  # type: ignore[arg-type]
    "reset after": _lost(lambda _: failures.ProtocolError("aborted", ConnectionResetError(104, "reset"))),
    "hung up": _lost(lambda _: failures.ProtocolError("aborted", RemoteDisconnected("no answer"))),
    "tls broke": _lost(lambda _: failures.SSLError(ssl.SSLError(1, "[SSL] record layer failure"))),
    "silent": _lost(lambda _: failures.ReadTimeoutError(None, SERVER, "timed out")),  # type: ignore[arg-type]
    "half a body": _lost(lambda honest: honest._replace(breaks=failures.IncompleteRead(6, 1000))),
    "gzip lies": _lost(lambda honest: honest._replace(breaks=failures.DecodeError("not gzipped"))),
    "tls broke in the body": _lost(lambda honest: honest._replace(breaks=failures.SSLError("decryption failed"))),
    "chunk is none": _lost(lambda honest: honest._replace(breaks=failures.ProtocolError("invalid chunk length"))),
    "500 page": _refused(500, PAGE),
    "502 cut": _refused(502, b'{"mess'),
    "503 words": _refused(503, b"no backend", {"Retry-After": "nan"}),
    "504 nothing": _refused(504, b""),
    "500 status": _refused(500, json.dumps({"kind": "Status", "code": 500, "message": "etcd"}).encode()),
    "429 plain": _refused(429, b"Too many requests", {"Retry-After": "1e400"}),
    "302": _refused(302, b"", {"Location": "https://elsewhere/"}),
    "400 page": _refused(400, PAGE),
    "401": _refused(401, b"\xff\xfe"),
    "403 page": _refused(403, PAGE),
    "410": _refused(410, b"[]"),
    "413 words": _refused(413, b"too large"),
    "422 null": _refused(422, b"null"),
    "half json": Fault(lambda honest: Answer(200, honest.body[: len(honest.body) // 2]), is_rubbish=True),
    "a page": _rubbish(PAGE),
    "nothing": _rubbish(b""),
    "null": _rubbish(b"null"),
    "a list": _rubbish(b"[]"),
    "empty": _rubbish(b"{}", is_object=True),
    "a status": _rubbish(b'{"kind":"Status","status":"Failure","code":500,"metadata":{}}', is_object=True),
    "not utf-8": _rubbish(b'{"metadata":{"name":"\xff\xfe"},"items":[{"metadata":{"name":"\xff"}}]}', is_object=True),
    "deep": _rubbish(b'{"items":' + b"[" * 100_000),
    "wrong forms": _rubbish(
        b'{"metadata":7,"items":"x","spec":[],"status":true,"resources":1,"data":2}', is_object=True
    ),
    "nulls": _rubbish(b'{"metadata":null,"items":[null],"spec":null,"status":null,"resources":[null]}', is_object=True),
    "gzipped": _rubbish(gzip.compress(b'{"items":[]}')),
    "huge": _rubbish(b'{"items":[' + b" " * 1_000_000),
    "forged numbers": _rubbish(b'{"metadata":{"name":1e400,"uid":NaN},"items":[{"metadata":{"name":-0}}]}'),
}


class BytePool:
    """Stands where urllib3's pool stands. All requests of the method and path ``target`` are answered by ``fault``."""

    def __init__(self, api: ApiServer, clock: FakeClock) -> None:
        self.api, self.clock = api, clock
        self.fault: Fault | None = None
        self.target: tuple[str, str] | None = None
        self.asked: list[tuple[str, str]] = []
        self._lock = Lock()

    def connection(self) -> Connection:
        """The product's own."""
        endpoint = Endpoint(SERVER, "test", ACCOUNT, self)
        return Connection(lambda: endpoint, read_only=False, sleep=self.clock.sleep)

    def request(self, method: str, url: str, *, body: bytes | None = None, **_: Any) -> Any:
        """One request."""
        parts = urlsplit(url)
        params = {name: values[0] for name, values in parse_qs(parts.query).items()}
        path = parts.path.removeprefix(urlsplit(SERVER).path)
        with self._lock:
            self.asked.append((method, path))
            fault = self.fault if self.target == (method, path) else None
            honest = Answer(200, b"{}")
            if fault is None or not fault.is_before:
                honest = self._honest(method, path, params, json.loads(body) if body else None)
        told = honest if fault is None else fault.told(honest)
        if isinstance(told, Exception):
            raise told
        return _Response(told)

    def _honest(self, method: str, path: str, params: Mapping[str, str], body: Any) -> Answer:
        if method == "GET":
            try:
                return Answer(200, self.api.get(path, params))
            except NotServedError:
                return Answer(404, b'{"kind":"Status","message":"not found"}')
        if path.endswith("accessreviews"):
            return Answer(201, b'{"status":{"allowed":true}}')
        if path.endswith(("/eviction", "/events")):
            return Answer(201, b'{"kind":"Status","status":"Success"}')
        found = self.api.send(method, path.removesuffix("/status"), body, params=params)
        if path == JOBS and method == "POST":
            self._control(body)
        if path.startswith(f"{JOBS}/") and method == "DELETE":
            name = path.rpartition("/")[2]
            for gone in [where for where in self.api.objects if f"/namespaces/{HOLDS}/pods/{name}-" in where]:
                del self.api.objects[gone]
        return Answer(found.status, found.body)

    def _control(self, job: Mapping[str, Any]) -> None:
        """Make its pods, as a job controller does."""
        template = job["spec"]["template"]
        for number in range(job["spec"].get("parallelism", 1)):
            path = f"/api/v1/namespaces/{HOLDS}/pods/{job['metadata']['name']}-{number}"
            self.api.put(path, metadata=json.loads(json.dumps(template["metadata"])), spec=template["spec"])


class _Response:
    def __init__(self, answer: Answer) -> None:
        self.status = answer.status
        self.headers = {"Date": DATE, **answer.headers}
        self._answer = answer

    @property
    def data(self) -> bytes:
        if self._answer.breaks is not None:
            raise self._answer.breaks
        return self._answer.body
