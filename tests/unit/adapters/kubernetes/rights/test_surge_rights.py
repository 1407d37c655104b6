"""What moves by surge need is asked in the namespaces of their pods, before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.rights.needed_rights import refuse_without_surge_rights
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Account(FakeServer):
    """May do everything but these (resource, namespace); an empty namespace stands for all."""

    def __init__(self, *denied: tuple[str, str]) -> None:
        super().__init__()
        self._denied = denied

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """A yes or a no."""
        asked = body["spec"]["resourceAttributes"]
        is_allowed = (asked["resource"], asked["namespace"]) not in self._denied
        self.answer(method, path, {"status": {"allowed": is_allowed}})
        return super().send(method, path, body, **more)


def test_whoever_may_do_it_everywhere_is_asked_for_no_namespace() -> None:
    """Nobody is asked where nothing moves by surge."""
    account: Any = Account()
    refuse_without_surge_rights(account, ["shop", "db"])
    assert {request.body["spec"]["resourceAttributes"]["namespace"] for request in account.requests} == {""}
    account.requests.clear()
    refuse_without_surge_rights(account, [])
    assert account.requests == []


def test_a_role_bound_in_the_namespaces_is_enough() -> None:
    """As docs/rights.md says of the part."""
    account: Any = Account(("pods", ""), ("networkpolicies", ""))
    refuse_without_surge_rights(account, ["shop"])


def test_what_is_missing_is_told_with_the_file_that_grants_it() -> None:
    """Only where it is missing."""
    account: Any = Account(("networkpolicies", ""), ("networkpolicies", "db"))
    with pytest.raises(ClusterError, match=r"deploy/surge\.yaml grants them") as caught:
        refuse_without_surge_rights(account, ["shop", "db"])
    rows = [line.split() for line in str(caught.value).splitlines()[2:]]
    assert rows == [["get", "networkpolicies", "db"], ["list", "networkpolicies", "db"]]
