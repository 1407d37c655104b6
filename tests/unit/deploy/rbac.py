"""An API server's answers about rights, given by the roles and bindings of some manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, Request

Manifest = dict[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
DELEGATOR = [
    {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
    {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
]
"""What every cluster's own role system:auth-delegator holds."""


class RbacServer(FakeServer):
    """Answers as the service account that the manifests bind roles to."""

    has_token = True

    def __init__(self, manifests: Sequence[Manifest], account: str) -> None:
        super().__init__()
        self._manifests = manifests
        self._account = account
        self.answer("POST", REVIEWS, self._review)
        self.answer("POST", RULES, lambda request: {"status": {"resourceRules": self._rules_of(request)}})
        self.answer("POST", WHO, {"status": {"userInfo": {"username": f"system:serviceaccount:ns:{account}"}}})

    def rules_in(self, namespace: str) -> Iterator[Manifest]:
        """The rules that hold in a namespace; empty: for the whole cluster."""
        for binding in self._manifests:
            is_wide = binding["kind"] == "ClusterRoleBinding"
            if not is_wide and (binding["kind"] != "RoleBinding" or binding["metadata"]["namespace"] != namespace):
                continue
            if any(subject["name"] == self._account for subject in binding["subjects"]):
                yield from self._role(binding["roleRef"], namespace)

    def _role(self, reference: Manifest, namespace: str) -> list[Manifest]:
        if reference["name"] == "system:auth-delegator":
            return DELEGATOR
        wanted = namespace if reference["kind"] == "Role" else None
        [role] = [
            item for item in self._manifests
            if (item["kind"], item["metadata"]["name"]) == (reference["kind"], reference["name"])
            and item["metadata"].get("namespace") == wanted
        ]  # fmt: skip
        rules: list[Manifest] = role["rules"]
        return rules

    def _rules_of(self, request: Request) -> list[Manifest]:
        return list(self.rules_in(request.body["spec"]["namespace"]))

    def _review(self, request: Request) -> Manifest:
        asked = request.body["spec"]["resourceAttributes"]
        return {"status": {"allowed": any(_allows(rule, asked) for rule in self.rules_in(asked["namespace"]))}}


def _allows(rule: Manifest, asked: Manifest) -> bool:
    """As RBAC does: a rule that names objects lets nothing through that names none."""
    resource = "/".join(filter(None, (asked["resource"], asked["subresource"])))
    names = rule.get("resourceNames")
    return (
        asked["verb"] in rule["verbs"]
        and asked["group"] in rule["apiGroups"]
        and resource in rule["resources"]
        and (not names or asked["name"] in names)
    )
