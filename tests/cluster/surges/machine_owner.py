"""Whoever owns the pods of virtual machines, as KubeVirt does: a webhook that denies evictions, and a controller.

The webhook answers 429 with KubeVirt's words, to a dry run too, which starts nothing. The controller marks the pod,
makes a new one of the same owner beside it, and lets the old one end as Succeeded; or it gives up, and the mark goes.
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.cluster.api import ApiError, Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.shapes import pod_template
from tests.cluster.waiting import wait_until
from tests.loopback_server import PromptAnswers

ASK = "descheduler.alpha.kubernetes.io/request-evict-only"
MARK = "descheduler.alpha.kubernetes.io/eviction-in-progress"
NAME = "virt-launcher-eviction-interceptor.kubevirt.io"
WEBHOOKS = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class MachineOwner:
    """``seconds``: how long a machine takes to move; ``gives_up``: it does not; ``words``: what the webhook says in
    place of KubeVirt's words, and then nothing is moved. ``asked``: names of pods, and whether by a dry run."""

    def __init__(self, cluster: Cluster) -> None:
        self.seconds = 1.0
        self.gives_up = False
        self.words = ""
        self.asked: list[tuple[str, bool]] = []
        self._cluster = cluster
        self._moving: list[threading.Thread] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        plane: ControlPlane = cluster.control_plane
        identity = plane.authority.serving(f"machine-owner-{uuid.uuid4().hex[:8]}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(identity.certificate, identity.key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)

    def install(self) -> None:
        """Tell the API server to ask the webhook, and wait until it does."""
        plane: ControlPlane = self._cluster.control_plane
        bundle = base64.b64encode(plane.authority.certificate.read_bytes()).decode()
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/eviction"]}
        webhook = {
            "name": NAME, "admissionReviewVersions": ["v1"], "sideEffects": "NoneOnDryRun", "rules": [rule],
            "failurePolicy": "Fail", "timeoutSeconds": 5,
            "clientConfig": {"url": f"https://127.0.0.1:{self.server.server_port}/", "caBundle": bundle},
        }  # fmt: skip
        self._cluster.create({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "machine-owner"}, "webhooks": [webhook],
        })  # fmt: skip
        # A webhook is asked before it is seen whether the pod is there.
        wait_until(self._is_asked, "the API server to ask the webhook")
        self.asked.clear()

    def answer(self, request: Manifest) -> Manifest:
        """What the webhook says of one AdmissionReview's request."""
        name, namespace = request["name"], request["namespace"]
        is_dry = bool(request.get("dryRun"))
        self.asked.append((name, is_dry))
        found = self._find(name, namespace)
        if found is None or ASK not in (found["metadata"].get("annotations") or {}):
            return {"uid": request["uid"], "allowed": True}
        words = self.words
        if not words:
            is_moving = MARK in found["metadata"]["annotations"]
            what = "Evacuation in progress" if is_moving else "Eviction triggered evacuation of"
            words = f"{what} VMI {namespace}/{found['metadata']['ownerReferences'][0]['name']}"
            if not is_dry and not is_moving:
                self._start(found)
        status = {"code": 429, "reason": "TooManyRequests", "message": words}
        return {"uid": request["uid"], "allowed": False, "status": status}

    def close(self) -> None:
        """Ask nobody any more, and see the last ones move."""
        try:
            self._cluster.api.delete(WEBHOOKS, "machine-owner")
        except ApiError as error:
            if error.code != 404:
                raise
        self.server.shutdown()
        self.server.server_close()
        for thread in self._moving:
            thread.join(30.0)

    def _find(self, name: str, namespace: str) -> Manifest | None:
        try:
            return self._cluster.api.get("pods", name, namespace)
        except ApiError:
            return None

    def _is_asked(self) -> bool:
        with suppress(ApiError):
            self._cluster.api.post_eviction("nobody", dry_run=True)
        return bool(self.asked)

    def _start(self, old: Manifest) -> None:
        self._mark(old, "kubevirt")
        thread = threading.Thread(target=self._move, args=(old,), daemon=True)
        self._moving.append(thread)
        thread.start()

    def _mark(self, old: Manifest, value: str | None) -> None:
        body = {"metadata": {"annotations": {MARK: value}}}
        self._cluster.api.patch("pods", old["metadata"]["name"], body, old["metadata"]["namespace"])

    def _move(self, old: Manifest) -> None:
        """A new pod beside the old one, until the machine runs there or he gives up."""
        api, namespace = self._cluster.api, old["metadata"]["namespace"]
        made = machine_pod(old["metadata"]["labels"]["app"], old["metadata"]["ownerReferences"][0]["uid"])
        name = api.create(made)["metadata"]["name"]
        wait_until(lambda: condition(api.get("pods", name, namespace), "Ready") == "True", "the new pod of a machine")
        time.sleep(self.seconds)
        if self.gives_up:
            api.delete("pods", name, namespace, grace_seconds=0)
            self._mark(old, None)
            return
        status = {"status": {"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False"}]}}
        api.patch("pods", old["metadata"]["name"], status, namespace, subresource="status")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(PromptAnswers, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = {
                    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                    "response": owner.answer(review["request"]),
                }  # fmt: skip
                body = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


@contextmanager
def machine_owner(cluster: Cluster) -> Iterator[MachineOwner]:
    """The owner at work, until the end."""
    owner = MachineOwner(cluster)
    thread = threading.Thread(target=owner.server.serve_forever, daemon=True)
    thread.start()
    try:
        owner.install()
        yield owner
    finally:
        owner.close()
        thread.join()


def machine_pod(name: str, uid: str) -> Manifest:
    """The pod of a machine: data on its node, never started again, and an owner whom nobody here knows."""
    shape = pod_template(
        cpu="1", labels={"app": name}, annotations={ASK: ""},
        spec={"restartPolicy": "Never", "volumes": [{"name": "state", "emptyDir": {}}]},
    )  # fmt: skip
    owner = {
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "name": name, "uid": uid, "controller": True,
    }  # fmt: skip
    metadata = {
        "generateName": f"virt-launcher-{name}-", "namespace": "default", "ownerReferences": [owner],
        **shape["metadata"],
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": shape["spec"]}
