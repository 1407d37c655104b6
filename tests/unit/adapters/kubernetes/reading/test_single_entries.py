"""ConfigMaps of a live cluster and of recordings, looked up by name."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.reading.single_entries import read_config_maps, read_secret
from rescheduler.extension_points import ClusterError, SnapshotError
from tests.paths import ACTING, DEPLOY
from tests.unit.adapters.api_objects import Object, api_object, list_of, node_object
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status

# Entries of Secrets: their text, or why there is none, never with anything of what stands there.


def read(found: Any, folder: Path, name: str = "monitoring/prom/token") -> str:
    """The entry, over a server that has this Secret (None: none)."""

    def handle(request: Request) -> Answer:
        assert request.path == "/api/v1/namespaces/monitoring/secrets/prom"
        return status(404, "not found") if found is None else answer(found)

    with serving(handle) as server:
        return read_secret(connect(str(server.kubeconfig(folder)), read_only=True), name)


def test_an_entry_is_decoded(tmp_path: Path) -> None:
    """Whatever characters it holds."""
    assert read({"data": {"token": base64.b64encode("gehéim\n".encode()).decode()}}, tmp_path) == "gehéim\n"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (None, "Secret monitoring/prom does not exist"),
        ({}, "has no entry token; it has none"),
        ({"data": {"other": "c2VjcmV0"}}, "has no entry token; it has other"),
        ({"data": {"token": "not base64!"}}, "the entry token is no text"),
        ({"data": {"token": base64.b64encode(b"\xff\xfe").decode()}}, "the entry token is no text"),
        ({"data": {"token": 5}}, "it is not of a Secret's form"),
    ],
)
def test_what_is_wrong_is_told_without_the_secret(found: Any, text: str, tmp_path: Path) -> None:
    """With server and name."""
    with pytest.raises(ClusterError) as caught:
        read(found, tmp_path)
    assert text in str(caught.value)
    assert "not base64" not in str(caught.value)


PATH = "/api/v1/namespaces/kube-system/configmaps/conf"


def config_map(name: str = "conf", namespace: str = "kube-system", **data: str) -> Object:
    """A ConfigMap."""
    return api_object("ConfigMap", name, namespace=namespace, data=data)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "there is no ConfigMap kube-system/conf, which the policy names under schedulers"),
        ({"data": {"a": 3}}, "a ConfigMap that cannot be read: data"),
    ],
)
def test_a_live_config_map_that_is_of_no_use(found: Object | None, said: str, tmp_path: Path) -> None:
    """One that is missing, and one that is none, are told with the server."""

    def handle(_: Request) -> Answer:
        return status(404, "not found") if found is None else answer(found)

    with serving(handle) as server, pytest.raises(ClusterError) as caught:
        read_config_maps(_connected(server, tmp_path), ["kube-system/conf"])
    assert said in str(caught.value)


def test_a_config_map_that_we_may_not_read_is_told_with_the_role_that_grants_it(tmp_path: Path) -> None:
    """That role stands beside the others, and lets us get ConfigMaps by name and nothing else."""
    forbidden = status(403, 'configmaps "conf" is forbidden')
    with serving(lambda _: forbidden) as server, pytest.raises(ClusterError) as caught:
        read_config_maps(_connected(server, tmp_path), ["kube-system/conf"])
    assert "forbids us to get configmaps in namespace kube-system" in str(caught.value)
    assert "deploy/scheduler-configuration.yaml grants it" in str(caught.value)
    role, binding = yaml.safe_load_all((DEPLOY / "scheduler-configuration.yaml").read_text())
    (rule,) = role["rules"]
    assert (rule["resources"], rule["verbs"], len(rule["resourceNames"])) == (["configmaps"], ["get"], 1)
    assert role["metadata"] == binding["metadata"]
    accounts = {
        item["metadata"]["name"]
        for file in ACTING
        for item in yaml.safe_load_all(file.read_text())
        if item["kind"] == "ServiceAccount"
    }
    assert {subject["name"] for subject in binding["subjects"]} == accounts


def test_live_config_maps_by_name(tmp_path: Path) -> None:
    """Each is asked for once; binary entries do not matter, and none at all is no fault."""
    asked: list[str] = []

    def handle(request: Request) -> Answer:
        asked.append(request.path)
        return answer(config_map(x="y") if request.path == PATH else {"binaryData": {"b": "AA=="}})

    with serving(handle) as server:
        found = read_config_maps(_connected(server, tmp_path), ["kube-system/conf", "a/b", "a/b"])
    assert found == {"kube-system/conf": {"x": "y"}, "a/b": {}}
    assert asked == [PATH, "/api/v1/namespaces/a/configmaps/b"]


def test_recordings_keep_what_is_asked_for_only() -> None:
    """By namespace and name, also from a list within a list; others leave no trace."""
    data = list_of(node_object(), config_map(x="y"), config_map(namespace="other", x="z"), config_map("else"))
    assert _read(data, "kube-system/conf").config_maps == {"kube-system/conf": {"x": "y"}}
    assert _read(data).config_maps == {}


def test_two_config_maps_of_one_name_must_agree() -> None:
    """Identical ones count once; different ones are refused with their name."""
    _read(list_of(node_object(), config_map(x="y"), config_map(x="y")), "kube-system/conf")
    with pytest.raises(SnapshotError, match="ConfigMap kube-system/conf"):
        _read(list_of(node_object(), config_map(x="y"), config_map(x="z")), "kube-system/conf")
    with pytest.raises(SnapshotError, match="ConfigMap kube-system/conf: data"):
        _read(list_of(node_object(), config_map() | {"data": []}), "kube-system/conf")


def _read(data: Object, *wanted: str):  # type: ignore[no-untyped-def]
    return read_recording(["-"], io.BytesIO(json.dumps(data).encode()), config_maps=wanted)


def _connected(server: FakeApiServer, folder: Path):  # type: ignore[no-untyped-def]
    return connect(server.kubeconfig(folder), read_only=True)
