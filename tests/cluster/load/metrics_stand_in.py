"""A stand-in for the resource metrics API behind the real API server: it says what it is told to."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tests.cluster.api import Manifest
from tests.cluster.load.metrics_server import GROUP, registered_metrics
from tests.cluster.plane.certificates import Authority
from tests.cluster.plane.control_plane import ControlPlane
from tests.loopback_server import PromptAnswers

VERSION: Final = f"{GROUP}/v1beta1"
RESOURCES: Final[Manifest] = {
    "apiVersion": "v1",
    "kind": "APIResourceList",
    "groupVersion": VERSION,
    "resources": [
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]},
        {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
    ],
}

Answers = Callable[[list[str], str], Manifest | None]
"""What there is at a path below the group's version, by its parts, for a label selector ("": all); None: nothing."""


@contextmanager
def metrics_stand_in(plane: ControlPlane, answers: Answers) -> Iterator[None]:
    """Serve the metrics API until the block ends."""
    identity = Authority("stand-in-metrics-ca", plane.root / "stand-in-metrics").serving("stand-in-metrics")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)
    server = _server(answers)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with registered_metrics(plane, server.server_port):
            yield
    finally:
        server.shutdown()
        server.server_close()


def _server(answers: Answers) -> ThreadingHTTPServer:
    class Handler(PromptAnswers, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            below = [part for part in url.path.split("/") if part][3:]
            selector = parse_qs(url.query).get("labelSelector", [""])[0]
            found = answers(below, selector) if below else RESOURCES
            missing = {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
            body = json.dumps(found or missing).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


class EvenUse:
    """Every running pod of a namespace uses so many millicores, measured just now."""

    def __init__(self, plane: ControlPlane, millicores: int) -> None:
        self.millicores = millicores
        self._plane = plane

    def __call__(self, below: list[str], selector: str) -> Manifest | None:
        """What is at ``namespaces/NAME/pods``."""
        if below[:1] != ["namespaces"] or below[2:] != ["pods"]:
            return None
        pods = self._plane.api.list("pods", below[1], labels=selector or None)
        running = [pod["metadata"] for pod in pods if pod["status"].get("phase") == "Running"]
        return {"apiVersion": VERSION, "kind": "PodMetricsList", "metadata": {}, "items": list(map(self._of, running))}

    def _of(self, pod: Manifest) -> Manifest:
        usage = {"cpu": f"{self.millicores}m", "memory": "16Mi"}
        metadata = {"name": pod["name"], "namespace": pod["namespace"], "labels": pod.get("labels", {})}
        return {
            "apiVersion": VERSION, "kind": "PodMetrics", "metadata": metadata, "window": "1s",
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "containers": [{"name": "main", "usage": usage}],
        }  # fmt: skip
