"""Whether pods can be gated on a cluster, and if not, in words, why."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from rescheduler.adapters.kubernetes.guidance.guidance_support import BINDINGS, POLICIES, why_no_gates
from tests.paths import DEPLOY
from tests.unit.adapters.kubernetes.api_server import HOLDS, ApiServer

GROUP = "/apis/admissionregistration.k8s.io/v1"
INSTALLED = DEPLOY / "guide.yaml"
REVIEWS = "selfsubjectaccessreviews"


class RightfulApiServer(ApiServer):
    """Answers what we may do. ``denied``: verb and resource that we may not."""

    denied: tuple[str, str] | None = None

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """A review is answered; everything else is as usual."""
        if path.endswith(REVIEWS):
            asked = body["spec"]["resourceAttributes"]
            is_allowed = (asked["verb"], asked["resource"]) != self.denied
            self.objects["review"] = {"metadata": {"name": "review"}, "status": {"allowed": is_allowed}}
            return super().send("PATCH", "review", {}, **more)
        return super().send(method, path, body, **more)


@pytest.fixture
def api() -> Any:
    """A cluster of today with deploy/guide.yaml applied."""
    server = RightfulApiServer()
    server.objects[GROUP] = {"resources": [{"name": POLICIES}, {"name": BINDINGS}]}
    server.objects["/version"] = {"gitVersion": "v1.30.1"}
    for document in yaml.safe_load_all(INSTALLED.read_text()):
        kind = BINDINGS if document["kind"].endswith("Binding") else POLICIES
        server.objects[f"{GROUP}/{kind}/rescheduler-guide"] = document
    return server


def policy_of(api: Any) -> Any:
    """The installed policy."""
    return api.objects[f"{GROUP}/{POLICIES}/rescheduler-guide"]


def binding_of(api: Any) -> Any:
    """The installed binding."""
    return api.objects[f"{GROUP}/{BINDINGS}/rescheduler-guide"]


def test_what_we_ship_is_accepted(api: Any) -> None:
    """With every right there is no reason against it."""
    assert why_no_gates(api, HOLDS) is None


def test_what_helm_has_installed_is_accepted(api: Any) -> None:
    """Helm writes its name over the label that says by whom an object is managed; another one says whose it is."""
    labels = {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/part-of": "rescheduler"}
    for found in (policy_of(api), binding_of(api)):
        found["metadata"]["labels"] = labels
    assert why_no_gates(api, HOLDS) is None


def test_an_older_server_is_told_by_its_version(api: Any) -> None:
    """It may serve the group without the kind, or not serve it at all."""
    api.objects[GROUP] = {"resources": [{"name": "validatingwebhookconfigurations"}]}
    assert "v1.30.1 does not serve" in str(why_no_gates(api, HOLDS))
    del api.objects[GROUP]
    assert "v1.30.1 does not serve" in str(why_no_gates(api, HOLDS))


@pytest.mark.parametrize(("kind", "word"), [(POLICIES, "policy"), (BINDINGS, "binding")])
def test_what_is_not_installed_is_named(api: Any, kind: str, word: str) -> None:
    """With the command that installs it."""
    del api.objects[f"{GROUP}/{kind}/rescheduler-guide"]
    reason = str(why_no_gates(api, HOLDS))
    assert f"the {word} rescheduler-guide is not there" in reason
    assert "deploy/guide.yaml" in reason


def test_a_binding_for_another_namespace_is_told(api: Any) -> None:
    """Both ConfigMaps are named: the one it reads, and the one that we would write."""
    reason = str(why_no_gates(api, "elsewhere"))
    assert "rescheduler-holds/rescheduler-guide" in reason
    assert "elsewhere/rescheduler-guide" in reason


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda policy: policy["spec"].update(failurePolicy="Fail"), "Ignore"),
        (lambda policy: policy["spec"]["mutations"][0].update(patchType="JSONPatch"), "ApplyConfiguration"),
        (lambda policy: policy["spec"].update(mutations=[]), "ApplyConfiguration"),
        (lambda policy: policy["spec"].update(paramKind={"apiVersion": "v1", "kind": "Secret"}), "ConfigMap"),
        (lambda policy: policy["metadata"].update(labels={}), "not ours"),
        (lambda policy: policy["spec"]["mutations"][0]["applyConfiguration"].update(expression="Object{}"), "gate"),
    ],
)
def test_a_policy_that_could_do_harm_is_not_used(api: Any, change: Any, told: str) -> None:
    """One that keeps pods out, panics requests, or is somebody else's."""
    change(policy_of(api))
    assert told in str(why_no_gates(api, HOLDS))


def test_a_binding_that_refuses_without_its_parameter_is_not_used(api: Any) -> None:
    """Between two plans there is no ConfigMap, and pods must come all the same."""
    binding_of(api)["spec"]["paramRef"]["parameterNotFoundAction"] = "Deny"
    assert "let pods through" in str(why_no_gates(api, HOLDS))


@pytest.mark.parametrize(
    "denied", [("patch", "pods"), ("create", "configmaps"), ("delete", "configmaps"), ("create", "pods")]
)
def test_missing_rights_are_named(api: Any, denied: tuple[str, str]) -> None:
    """Verb and resource."""
    api.denied = denied
    assert " ".join(denied) in str(why_no_gates(api, HOLDS))


def test_a_policy_that_we_may_not_see_is_a_reason(api: Any) -> None:
    """Not an error that would end the run: it falls back."""
    api.answers["GET", "/rescheduler-guide"] = 403
    assert "forbids" in str(why_no_gates(api, HOLDS))
