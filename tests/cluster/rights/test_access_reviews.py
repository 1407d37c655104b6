"""Who may ask the daemon: tokens of real service accounts, judged by the real API server and its roles."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
import yaml
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.rights.access_reviews import AccessReviews
from rescheduler.daemon.api.daemon_running import daemon_listener
from rescheduler.daemon.steering.controls import Controls
from rescheduler.daemon.steering.explaining import Basis, Explaining
from rescheduler.model.plan.plan import Move, Plan, PodReference, SnapshotSummary
from rescheduler.policy.fields.daemon.api import ApiPolicy
from rescheduler.policy.fields.policy import Policy
from tests.cluster.cluster import Cluster
from tests.cluster.rest_client import Answer, ask, bind, token_of
from tests.paths import DEPLOY
from tests.unit.daemon.api.daemon_bench import LOOP

API = DEPLOY / "api.yaml"
SYSTEM = "rescheduler-system"
MOVE = Move(PodReference("default", "a", "1"), "n1", "n2", 1, "MakeRoom", "")
PLAN = Plan(SnapshotSummary(None, 2, 1, 0, "test"), moves=(MOVE,))


class Server(NamedTuple):
    """A daemon's API under the roles of deploy/api.yaml."""

    url: str
    controls: Controls

    def ask(self, target: str, token: str, method: str = "GET") -> Answer:
        """One request with a token."""
        return ask(self.url, target, token, method)


@pytest.fixture
def accounts(cluster: Cluster) -> Cluster:
    """The roles of deploy/api.yaml, and accounts: a viewer, an approver, one for one namespace, one with no rights."""
    metadata = {"namespace": SYSTEM}
    cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    for name in ("rescheduler", "viewer", "approver", "tenant", "nobody"):
        cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "name": name}})
    for manifest in yaml.safe_load_all(API.read_text()):
        cluster.api.apply(manifest)
    bind(cluster, "rescheduler-viewer", "viewer", SYSTEM)
    bind(cluster, "rescheduler-approver", "approver", SYSTEM)
    bind(cluster, "rescheduler-viewer", "tenant", SYSTEM, namespace="default")
    return cluster


@contextmanager
def serving(cluster: Cluster) -> Iterator[Server]:
    """A server whose own account has nothing but what deploy/api.yaml gives it; plan "one" waits."""
    kubeconfig = cluster.control_plane.service_account_kubeconfig("rescheduler", SYSTEM)
    clock = SystemClock()
    controls = Controls(clock, lambda _: None, inbox=LOOP.inbox)
    controls.propose("one", PLAN, clock.now())
    reviews = AccessReviews(connect(str(kubeconfig), read_only=False), "rescheduler", clock)
    explaining = Explaining(controls.state, lambda: Basis(Policy()))
    listener = daemon_listener(ApiPolicy(address="127.0.0.1:0"), controls.people, explaining, reviews, clock)
    listener.start()
    try:
        yield Server(listener.url, controls)
    finally:
        listener.stop()


def test_a_viewer_looks_and_an_approver_acts(accounts: Cluster) -> None:
    """By the example roles; the approval bears the account's name."""
    with serving(accounts) as server:
        viewer, approver = token_of(accounts, "viewer", SYSTEM), token_of(accounts, "approver", SYSTEM)
        for target in ("/v1/state", "/v1/rounds", "/v1/plans", "/v1/plans/one", "/v1/refusals"):
            assert server.ask(target, viewer).status == 200
        refused = server.ask("/v1/plans/one/approve", viewer, "POST")
        assert (refused.status, refused.document["reason"]) == (403, "Forbidden")
        assert "create plans/approve in API group rescheduler.dev" in refused.document["message"]
        for target in ("/v1/trigger", "/v1/resume"):
            assert server.ask(target, viewer, "POST").status == 403
        approved = server.ask("/v1/plans/one/approve", approver, "POST")
        assert (approved.status, approved.document["who"]) == (200, f"system:serviceaccount:{SYSTEM}:approver")
        assert server.ask("/v1/trigger", approver, "POST").status == 202
        plan = server.controls.approved_plan()
        assert plan is not None
        assert plan[2] == f"system:serviceaccount:{SYSTEM}:approver"


def test_rights_in_one_namespace_hold_there_alone(accounts: Cluster) -> None:
    """A tenant asks about his own pods; without the namespace it is asked for the right in all of them."""
    with serving(accounts) as server:
        tenant = token_of(accounts, "tenant", SYSTEM)
        assert server.ask("/v1/refusals?namespace=default", tenant).status == 200
        assert server.ask("/v1/refusals?namespace=kube-system", tenant).status == 403
        assert server.ask("/v1/refusals", tenant).status == 403
        assert server.ask("/v1/explain/pods/default/a", tenant).status == 503  # allowed; no snapshot yet
        assert server.ask("/v1/explain/pods/kube-system/a", tenant).status == 403
        assert server.ask("/v1/explain/nodes/n1", tenant).status == 403
        assert server.ask("/v1/state", tenant).status == 403


def test_an_account_without_rights_gets_nowhere(accounts: Cluster) -> None:
    """Its token is good all the same: 403, not 401."""
    with serving(accounts) as server:
        token = token_of(accounts, "nobody", SYSTEM)
        for method, target in (("GET", "/v1/state"), ("GET", "/v1/plans/one"), ("POST", "/v1/plans/one/approve")):
            assert server.ask(target, token, method).status == 403
        assert server.controls.approved("one") is None


def test_a_token_for_somebody_else_is_none(accounts: Cluster) -> None:
    """For the API server, or another service: whoever stole it there cannot use it here."""
    with serving(accounts) as server:
        for audience in (None, "another-service"):
            assert server.ask("/v1/state", token_of(accounts, "approver", SYSTEM, audience)).status == 401
        assert server.ask("/v1/state", token_of(accounts, "approver", SYSTEM)[:-4] + "AAAA").status == 401


def test_an_expired_token_is_none(accounts: Cluster) -> None:
    """The same token, signed anew with a later end, is good."""
    with serving(accounts) as server:
        token = token_of(accounts, "approver", SYSTEM)
        now = int(time.time())
        for ends_at, status in ((now + 300, 200), (now - 300, 401)):
            changed = _signed_anew(accounts, token, iat=now - 900, nbf=now - 900, exp=ends_at)
            assert server.ask("/v1/state", changed).status == status


def _signed_anew(cluster: Cluster, token: str, **claims: int) -> str:
    """A token with other claims, signed with the cluster's own key."""
    head, payload, _ = token.split(".")
    data = json.loads(base64.urlsafe_b64decode(payload + "=="))
    text = f"{head}.{_encoded(json.dumps({**data, **claims}).encode())}"
    pem = (cluster.control_plane.root / "pki" / "service-account.key").read_bytes()
    key = serialization.load_pem_private_key(pem, password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return f"{text}.{_encoded(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def test_a_token_whose_account_is_gone_is_none(accounts: Cluster) -> None:
    """The API server does not accept it any more."""
    with serving(accounts) as server:
        token = token_of(accounts, "approver", SYSTEM)
        accounts.api.delete("serviceaccounts", "approver", SYSTEM)
        assert server.ask("/v1/plans/one/approve", token, "POST").status == 401
        assert server.controls.approved("one") is None


def test_while_the_api_server_is_away_nobody_gets_in_anew(accounts: Cluster) -> None:
    """503, which is no yes; afterwards all is as before."""
    with serving(accounts) as server:
        token = token_of(accounts, "approver", SYSTEM)
        accounts.control_plane.kill("kube-apiserver")
        answer = server.ask("/v1/plans/one/approve", token, "POST")
        assert (answer.status, answer.document["message"]) == (503, "authentication unavailable")
        assert server.controls.approved("one") is None
        accounts.control_plane.restart("kube-apiserver")
        assert server.ask("/v1/plans/one/approve", token, "POST").status == 200
