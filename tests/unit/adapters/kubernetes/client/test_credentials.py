"""Finding the cluster: what people see when the kubeconfig is not as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.client.credentials import load_endpoint
from rescheduler.extension_points import ClusterError

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}]
users: [{name: u, user: {token: hush}}]
contexts: [{name: a, context: {cluster: c, user: u}}, {name: b, context: {cluster: gone, user: u}}]
"""


@pytest.fixture(autouse=True)
def _no_cluster_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)


def _config(folder: Path, text: str) -> str:
    (folder / "config").write_text(text)
    return str(folder / "config")


def test_no_kubeconfig_names_the_ways_out(tmp_path: Path) -> None:
    """Without any kubeconfig the error names the place looked at, the option, the variable and recordings."""
    with pytest.raises(ClusterError) as caught:
        load_endpoint(None, None)
    for part in ("~/.kube/config", "--kubeconfig", "KUBECONFIG", "-f FILE"):
        assert part in str(caught.value)
    with pytest.raises(ClusterError, match=r"missing\.yaml"):
        load_endpoint(str(tmp_path / "missing.yaml"), None)


def test_kubeconfig_variable_may_list_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for kubectl, files that are missing are passed over."""
    path = _config(tmp_path, CONFIG + "current-context: a\n")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/missing:{path}")
    endpoint = load_endpoint(None, None)
    assert (endpoint.server, endpoint.name) == ("https://127.0.0.1:6443", "a")
    assert endpoint.authorization() == "Bearer hush"


def test_an_unknown_context_lists_the_choices(tmp_path: Path) -> None:
    """A context that is not there is named beside those that are."""
    with pytest.raises(ClusterError, match=r"no context 'x'; there are: a, b"):
        load_endpoint(_config(tmp_path, CONFIG), "x")


def test_no_current_context_lists_the_choices(tmp_path: Path) -> None:
    """Without --context and current-context there is nothing to guess."""
    with pytest.raises(ClusterError, match=r"--context: a, b"):
        load_endpoint(_config(tmp_path, CONFIG), None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[1, 2]",
        "a: [",
        "clusters: 5\ncontexts: 7\nusers: 1\n",
        CONFIG + "current-context: b\n",
        CONFIG.replace('server: "https://127.0.0.1:6443"', "") + "current-context: a\n",
        CONFIG.replace("{name: u, user", "{user") + "current-context: a\n",
        "contexts: [{nom: a}]\ncurrent-context: a\n",
        CONFIG.replace("}}]\nusers", ", certificate-authority: /missing.crt}}]\nusers") + "current-context: a\n",
    ],
)
def test_a_broken_kubeconfig_is_one_clear_error(tmp_path: Path, text: str) -> None:
    """Whatever the file holds, the error names it and shows no token."""
    path = _config(tmp_path, text)
    with pytest.raises(ClusterError) as caught:
        load_endpoint(path, None)
    assert "hush" not in str(caught.value)
    assert path in str(caught.value) or "context 'a'" in str(caught.value)
