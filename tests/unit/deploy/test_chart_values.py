"""The chart's values: all described, all in the schema, and bad ones refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart import CHART, Values, render

DEPLOY = CHART.parents[1]
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text())
ONLY_IN_SCHEMA = {"global", "initialDelaySeconds", "successThreshold", "claims"}
"""What has no default; ``global`` is Helm's own."""


def keys_of_schema(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Paths of all fields that a schema lists, but for the policy's."""
    for name, field in schema.get("properties", {}).items():
        if name not in ONLY_IN_SCHEMA:
            yield f"{path}.{name}"
            yield from keys_of_schema(field, f"{path}.{name}")


def keys_of_values(found: Any, schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Paths of all values that have a place of their own in the schema."""
    for name in schema.get("properties", {}):
        if isinstance(found, dict) and name in found:
            yield f"{path}.{name}"
            yield from keys_of_values(found[name], schema["properties"][name], f"{path}.{name}")


def closed(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Paths of objects with listed fields that would let others through."""
    if "properties" in schema and schema.get("additionalProperties") is not False:
        yield path
    for name, field in schema.get("properties", {}).items():
        yield from closed(field, f"{path}.{name}")


def test_values_and_schema_name_the_same_fields() -> None:
    """Nothing is in one only, so that values.yaml shows all there is."""
    assert set(keys_of_schema(SCHEMA)) == set(keys_of_values(DEFAULTS, SCHEMA))
    assert set(DEFAULTS) <= set(SCHEMA["properties"])


def test_a_misspelt_field_is_refused_at_every_level() -> None:
    """No object of listed fields lets others through."""
    assert list(closed(SCHEMA)) == []


def test_every_group_of_values_has_a_comment() -> None:
    """Values that stand together, without an empty line between them, are told of in words."""
    groups = (CHART / "values.yaml").read_text().split("\n\n")
    assert [group for group in groups if "#" not in group] == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "Daemon"}, "'/kind': value must be one of 'Deployment', 'CronJob', 'Job'"),
        ({"mode": "execute"}, "'/mode': value must be one of 'DryRun', 'Approve', 'Execute'"),
        ({"mode": None}, "missing property 'mode'"),
        ({"guidance": None}, "missing property 'guidance'"),
        ({"guidance": "Hope"}, "'/guidance': value must be one of"),
        ({"replica": 2}, "additional properties 'replica' not allowed"),
        ({"replicas": "2"}, "'/replicas': got string, want integer"),
        ({"replicas": 2.5}, "'/replicas'"),
        ({"policy": "mode: Execute"}, "'/policy': got string, want object"),
        ({"policy": {"kind": "DeschedulerPolicy"}}, "'/policy/kind': value must be 'ReschedulerPolicy'"),
        ({"image": {"digest": "latest"}}, "'/image/digest'"),
        ({"image": {"repository": "a@sha256:1"}}, "'/image/repository'"),
        ({"imagePullSecrets": ["pull"]}, "'/imagePullSecrets/0': got string, want object"),
        ({"executeNamespaces": ["Shop"]}, "'/executeNamespaces/0'"),
        ({"executeNamespaces": "shop"}, "'/executeNamespaces': got string, want array"),
        ({"telemetry": {"address": "8080"}}, "'/telemetry/address'"),
        ({"rbac": {"schedulerConfigMaps": ["volcano"]}}, "'/rbac/schedulerConfigMaps/0'"),
        ({"rbac": {"create": "yes"}}, "'/rbac/create': got string, want boolean"),
        ({"resources": {"requests": {"cpu": "lots"}}}, "'/resources/requests/cpu'"),
        ({"resources": {"request": {"cpu": 1}}}, "'/resources': additional properties 'request' not allowed"),
        ({"priorityClassName": "system-node-critical"}, "'/priorityClassName'"),
        ({"leaderElection": {"leaseDuration": 15}}, "'/leaderElection/leaseDuration': got number, want string"),
        ({"cronJob": {"schedule": "daily"}}, "'/cronJob/schedule'"),
        ({"persistence": {"accessModes": []}}, "'/persistence/accessModes'"),
        ({"podDisruptionBudget": {"maxUnavailable": 0}}, "'/podDisruptionBudget/maxUnavailable'"),
        ({"networkPolicy": {"apiServerPorts": [0]}}, "'/networkPolicy/apiServerPorts/0'"),
        ({"extraArgs": [1]}, "'/extraArgs/0': got number, want string"),
    ],
)
def test_the_schema_refuses_a_bad_value_in_words(values: Values, words: str) -> None:
    """The path and what was wanted."""
    with pytest.raises(ValueError, match="values don't meet the specifications") as refused:
        render(values)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"policy": {"mode": "Execute"}}, "policy.mode: the chart writes this itself"),
        ({"policy": {"telemetry": {}}}, "policy.telemetry: the chart writes this itself"),
        ({"policy": {"hold": {"namespace": "x"}}}, "wanted it as the value holds.namespace"),
        ({"policy": {"ledger": {"name": "x"}}}, "wanted it as the value ledgerName"),
        ({"policy": {"autoscaler": {"scaleUp": "Leave"}}}, "wanted it as the value autoscaler.scaleUp"),
        ({"kind": "Job", "mode": "Approve"}, "mode: found Approve with kind Job"),
        ({"mode": "Execute", "replicas": 2, "leaderElection": {"enabled": False}}, "found false with 2 replicas"),
        ({"telemetry": {"address": "127.0.0.1:8080"}}, "neither probes nor Prometheus reach"),
        ({"telemetry": {"address": "[::1]:8080"}}, "neither probes nor Prometheus reach"),
        ({"api": {"enabled": True, "address": "0.0.0.0:2021"}}, "api.tlsSecret: nothing found"),
        ({"replicas": 2, "persistence": {"enabled": True}}, "wanted ReadWriteMany, or replicas: 1"),
        ({"guidance": "Predict", "autoscaler": {"scaleUp": "Placeholders"}}, "writes nothing but evictions"),
    ],
)
def test_values_that_do_not_go_together_are_refused_in_words(values: Values, words: str) -> None:
    """What was found, and what was wanted."""
    with pytest.raises(ValueError, match="execution error") as refused:
        render(values)
    assert words in str(refused.value)


def test_a_chart_without_its_roles_does_not_render(tmp_path: Any) -> None:
    """Packed wrongly, it says so instead of installing an account without rights."""
    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    copy = tmp_path / "rescheduler"
    (copy / "templates").mkdir(parents=True)
    for file in CHART.rglob("*"):
        if file.is_file() and file.parent.name != "files":
            (copy / file.relative_to(CHART)).write_bytes(file.read_bytes())
    with helm.Chart.load(copy) as chart, pytest.raises(helm.HelmError, match="the chart is not complete"):
        chart.render({}, name="x", namespace="y")


def test_lint_finds_nothing() -> None:
    """Helm's own lint has no warning and no error; an icon is only recommended."""
    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    messages = [item for item in helm.lint(str(CHART), {}, strict=True)["messages"] if item["severity"] > 1]
    assert messages == []


@pytest.mark.parametrize("copy", sorted((CHART / "files").iterdir()), ids=lambda copy: copy.name)
def test_the_charts_copy_is_the_same(copy: Path) -> None:
    """Helm reads files of its own folder only, and not all that carries a tree keeps links: `make chart-files`."""
    (original,) = (path for path in DEPLOY.rglob(copy.name) if CHART not in path.parents)
    assert copy.read_bytes() == original.read_bytes()


def test_the_chart_packs_all_its_files(tmp_path: Any) -> None:
    """Roles, rules and what else it installs are in the package."""
    import tarfile

    helm = pytest.importorskip("helm_python", reason="Helm comes with the dependency group deploy")
    with tarfile.open(helm.package(str(CHART), destination=str(tmp_path))) as package:
        for file in (CHART / "files").iterdir():
            packed = package.extractfile(f"rescheduler/files/{file.name}")
            assert packed is not None
            assert packed.read() == file.read_bytes()
