"""Where a policy finds the configuration of schedulers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from rescheduler.policy.fields.schedulers import SchedulerSource, anchor_files
from rescheduler.policy.reading.policy_text import read_document


def source(**fields: object) -> SchedulerSource:
    """A source as a policy file would give it."""
    return SchedulerSource.model_validate_json(json.dumps(fields))


def test_sources() -> None:
    """A file, a ConfigMap, or the built-in defaults under a name."""
    assert source(file="x.yaml", schedulerName="a") == SchedulerSource(file="x.yaml", scheduler_name="a")
    assert source(configMap="kube-system/my.conf").config_map == "kube-system/my.conf"
    assert source(schedulerName="other").file is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "nothing is given; write file, configMap, or schedulerName"),
        ({"file": "x", "configMap": "a/b"}, "both file and configMap are given; keep one"),
        ({"configMap": "b"}, "found 'b'; wanted NAMESPACE/NAME"),
        ({"configMap": "a/b/c"}, "wanted NAMESPACE/NAME"),
        ({"configMap": "A/b"}, "wanted NAMESPACE/NAME"),
        ({"configMap": "a/b\n"}, "wanted NAMESPACE/NAME"),
        ({"file": ""}, "at least 1 character"),
        ({"file": "x", "schedulerName": ""}, "at least 1 character"),
        ({"path": "x"}, "Extra inputs are not permitted"),
    ],
)
def test_sources_that_are_refused(fields: dict[str, object], said: str) -> None:
    """Exactly one source, well named."""
    with pytest.raises(ValidationError) as caught:
        source(**fields)
    assert said in str(caught.value)


def test_files_are_relative_to_the_policy(tmp_path: Path) -> None:
    """Relative files are looked for beside the policy, absolute ones and ConfigMaps stay."""
    text = "schedulers: [{file: x.yaml}, {file: ../y.yaml}, {file: /z.yaml}, {configMap: a/b}]\n"
    document = read_document(str(tmp_path / "policies" / "p.yaml"), text.encode())
    anchor_files(document)
    folder = f"{tmp_path}/policies"
    assert document.data["schedulers"] == [
        {"file": f"{folder}/x.yaml"},
        {"file": f"{folder}/../y.yaml"},
        {"file": "/z.yaml"},
        {"configMap": "a/b"},
    ]


@pytest.mark.parametrize(
    "text", ["schedulers: 5", "schedulers: [5, {file: [x]}]", "kind: x", "[1]", "schedulers: null"]
)
def test_what_is_no_list_of_sources_is_left_alone(text: str) -> None:
    """What is wrong there is for the validation to tell."""
    document = read_document("p.yaml", text.encode())
    before = json.dumps(document.data)
    anchor_files(document)
    assert json.dumps(document.data) == before
