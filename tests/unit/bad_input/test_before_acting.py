"""What a person is told before something is done to a cluster, by the number of its case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.adapters.kubernetes.identity import current_context
from rescheduler.adapters.kubernetes.rights.needed_rights import (
    refuse_without_rights,
    service_account,
    surplus_rights,
    surplus_warning,
)
from rescheduler.composition.live.carrying_out import untested_version
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, Request
from tests.unit.cli.conftest import Answer, World, world

__all__ = ["world"]

Shell = Callable[..., Answer]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
RULES = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class Server(FakeServer):
    """An API server that is asked about rights; ``allowed``: namespaces in which pods may be evicted."""

    has_token = True

    def __init__(self, *allowed: str) -> None:
        super().__init__()
        self.answer("POST", REVIEWS, lambda request: {"status": {"allowed": _namespace(request) in allowed}})


def _namespace(request: Request) -> str:
    return str(request.body["spec"]["resourceAttributes"]["namespace"])


def kubeconfig(folder: Path, *names: str, current: str = "prod") -> str:
    """A kubeconfig with these contexts, each with a cluster of its own."""
    cluster = {"server": "https://127.0.0.1:1"}
    document = {
        "apiVersion": "v1", "kind": "Config", "users": [{"name": "me", "user": {}}], "current-context": current,
        "clusters": [{"name": f"{name}-eu", "cluster": cluster} for name in names],
        "contexts": [{"name": name, "context": {"cluster": f"{name}-eu", "user": "me"}} for name in names],
    }  # fmt: skip
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_c6_the_question_names_the_context_that_nobody_chose(world: World, shell: Shell, tmp_path: Path) -> None:
    """Where a kubeconfig leads to several clusters, the current one may not be the one that is meant."""
    path = kubeconfig(tmp_path, "prod", "test")
    answer = shell("apply", "--kubeconfig", path, typed="n\n")
    assert "as shown, in context prod (cluster prod-eu)? [y/N]" in answer.err
    answer = shell("apply", "--kubeconfig", path, "--yes")
    assert "acting on context prod (cluster prod-eu); --context NAME" in answer.err


@pytest.mark.parametrize("chosen", [("--context", "prod"), ()])
def test_c6_a_context_that_was_chosen_or_is_the_only_one_needs_no_word(
    world: World, shell: Shell, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    """Nothing to mix up."""
    path = kubeconfig(tmp_path, *(("prod", "test") if chosen else ("prod",)))
    answer = shell("apply", "--kubeconfig", path, *chosen, typed="n\n")
    assert "as shown? [y/N]" in answer.err
    assert shell("apply", "--kubeconfig", path, *chosen, "--yes").err == ""


def test_c6_a_context_name_cannot_play_tricks_on_the_terminal(tmp_path: Path) -> None:
    """Control characters are shown, not sent."""
    found = current_context(kubeconfig(tmp_path, "p\x1b[2Jx", current="p\x1b[2Jx"))
    assert found is not None
    assert "\x1b" not in found.text


def test_c6_no_usable_kubeconfig_is_somebody_elses_message(tmp_path: Path) -> None:
    """Reading the cluster tells what is wrong with it."""
    assert current_context(str(tmp_path / "gone")) is None
    (tmp_path / "broken").write_text("contexts: 7\n")
    assert current_context(str(tmp_path / "broken")) is None
    assert current_context(kubeconfig(tmp_path, "prod", current="other")) is None


def test_c8_missing_rights_are_a_table() -> None:
    """Verb, resource and namespace of each; only those that are missing."""
    with pytest.raises(ClusterError) as refused:
        refuse_without_rights(Server("web"), ["shop", "web", "a-long-name", "shop"])  # type: ignore[arg-type]
    head, *table = str(refused.value).splitlines()
    assert "nothing was done" in head
    assert table == [
        "  VERB    RESOURCE       NAMESPACE",
        "  create  pods/eviction  a-long-name",
        "  create  pods/eviction  shop",
    ]


def test_c8_a_right_for_all_namespaces_is_asked_once() -> None:
    """And no right is asked for where nothing is to be evicted."""
    server = Server("")
    refuse_without_rights(server, ["a", "b", "c"])  # type: ignore[arg-type]
    assert len(server.requests) == 1
    refuse_without_rights(server, [])  # type: ignore[arg-type]
    assert len(server.requests) == 1


def rules(*found: tuple[str, str, str]) -> dict[str, Any]:
    """An answer about rules: (verbs, group, resources)."""
    return {
        "status": {
            "resourceRules": [
                {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
                for verbs, group, resources in found
            ]
        }
    }


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (("get list watch", "", "pods nodes"), []),
        (("create", "", "pods/eviction"), []),
        (("patch", "", "pods pods/status nodes"), []),
        (("create", "authorization.k8s.io", "selfsubjectaccessreviews"), []),
        (("get", "", "secrets"), ["get secrets"]),
        (("delete patch", "", "pods"), ["delete pods"]),
        (("update patch", "apps", "deployments"), ["update/patch deployments (apps)"]),
        (("*", "*", "*"), ["* * (*)"]),
        (("create", "", "pods/exec"), ["create pods/exec"]),
    ],
)
def test_c9_rights_beyond_all_need_are_listed(rule: tuple[str, str, str], told: list[str]) -> None:
    """Reading is fine but for secrets; writing is fine where a part of ours needs it."""
    server = Server()
    server.answer("POST", RULES, rules(rule))
    assert surplus_rights(server, "kube-system") == told  # type: ignore[arg-type]


def test_c9_the_list_is_short() -> None:
    """An administrator's rights do not fill the screen."""
    text = surplus_warning([f"delete thing{number}" for number in range(40)])
    assert "delete thing9 and 30 more" in text
    assert "thing10" not in text


def test_c9_only_service_accounts_are_told() -> None:
    """People often act with more rights than they need, and know it."""
    server = Server()
    server.answer("POST", WHO, {"status": {"userInfo": {"username": "system:serviceaccount:a:b"}}})
    assert service_account(server) == "system:serviceaccount:a:b"  # type: ignore[arg-type]
    server.answer("POST", WHO, {"status": {"userInfo": {"username": "jane"}}})
    assert service_account(server) is None  # type: ignore[arg-type]
    server.has_token = False
    server.answer("POST", WHO, ClusterError("must not be asked"))
    assert service_account(server) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("version", "side"),
    [
        ("v1.36.3", None), ("v1.37.0+k3s1", None), (None, None), ("", None), ("nonsense", None),
        ("v1.35.9", "older"), ("v1.27.0", "older"), ("v1.38.1", "newer"), ("v2.0.0", "newer"), ("v0.35.0", "older"),
    ],
)  # fmt: skip
def test_c14_an_untested_server_is_named_with_the_versions(version: str | None, side: str | None) -> None:
    """Both versions, and which way they differ."""
    text = untested_version(version)
    if side is None:
        assert text is None
    else:
        assert text is not None
        assert version is not None
        assert version in text
        assert f"{side} than what this version was tested with (1.36 to 1.37)" in text
