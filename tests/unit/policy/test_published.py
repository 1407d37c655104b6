"""What is published about policies and plans keeps step with the code."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from rescheduler.daemon.plugins import load_policy, policy_schema
from rescheduler.policy.fields.policy import Policy
from tests.paths import ROOT
from tests.unit.policy.policies import HEAD

POLICIES = sorted((ROOT / "policies").glob("*.yaml"))


def generated() -> dict[str, str]:
    """What ``python docs/generate.py`` would write."""
    specification = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    files: dict[str, str] = module.generated()
    return files


@pytest.mark.parametrize(
    "name", ["plan.schema.json", "policy.schema.json", "policy-reference.md", "metrics-providers.md"]
)
def test_published_files_are_fresh(name: str) -> None:
    """A change of the models without ``python docs/generate.py`` is noticed."""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generated()[name]


@cache
def validator() -> Any:
    """A validator of policies by their published schema, itself checked."""
    jsonschema.Draft202012Validator.check_schema(policy_schema())
    return jsonschema.Draft202012Validator(policy_schema())


@pytest.mark.parametrize("file", POLICIES, ids=lambda path: path.name)
def test_shipped_policies_are_valid_by_loader_and_schema(file: Path) -> None:
    """Every policy in policies/ can be used as it is, and bears its file's name."""
    assert load_policy([file]).metadata.name == file.stem
    validator().validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def test_policies_for_the_first_job_and_for_looking_on_are_shipped() -> None:
    """Two intents at least: help pending pods, and only look."""
    assert {"pending-only.yaml", "observe-only.yaml"} <= {file.name for file in POLICIES}


@pytest.mark.parametrize(
    "body",
    [
        "limits: {maxEvictions: -1}",
        "limits: {deadline: 5mins}",
        "limits: {deadline: 5}",
        "scope: {namespaces: {include: []}}",
        "disruption: {workloads: {maxUnavailable: 150%}}",
        "disruption: {workloads: {maxUnavailable: 100%}}",
        "disruption: {ownerless: 'no'}",
        "scope: {nodeSelector: {zone: 1}}",
        "unknown: 1",
        "guidance: Guided",
        "health: {settle: 5}",
        "objectives: [{name: MakeRoom, args: {a: 1}}]",
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(body: str) -> None:
    """An editor that knows the schema warns of the same mistakes."""
    assert not validator().is_valid(yaml.safe_load(HEAD + body))


def test_a_policy_written_out_in_full_is_valid_by_schema() -> None:
    """All defaults, in the form that files use, satisfy the published schema."""
    data = json.loads(Policy().model_dump_json(by_alias=True, exclude_none=True))
    validator().validate(data)
    assert data["limits"]["deadline"] == "10s"
    assert data["hold"]["deadline"] == "60s"


def test_every_default_in_the_schema_is_valid_by_itself() -> None:
    """No default of the schema contradicts the field it stands at."""
    schema = policy_schema()
    for name, definition in schema["$defs"].items():
        for field, rule in definition.get("properties", {}).items():
            if "default" in rule:
                jsonschema.Draft202012Validator({**rule, "$defs": schema["$defs"]}).validate(rule["default"])
                assert rule["default"] is not ..., (name, field)


def test_the_reference_names_every_field_with_its_default() -> None:
    """A field that the reference lacks does not exist for an operator."""
    text = (ROOT / "docs" / "policy-reference.md").read_text(encoding="utf-8")
    for row in (
        "| `limits.maxEvictions` | whole number, 0 or more | `20` |",
        "| `limits.deadline` | duration | `10s` |",
        "| `disruption.workloads.maxUnavailable` | number or share | `10%` |",
        "| `scope.namespaces.exclude` | list | `[]` |",
        "| `scope.systemNamespaces` | `Deny`, `Allow` | `Deny` |",
        "| `disruption.persistentVolumes` | text, or map | `Deny` |",
        "| `disruption.ownerKinds[].kind` | text | required |",
        "| `hold.namespace` | text | `rescheduler-holds` |",
        "| `guidance` | `Predict`, `Hold`, `Guide`, `Taint` | `Hold` |",
    ):
        assert row in text
