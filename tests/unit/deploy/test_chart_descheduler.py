"""The chart with descheduler's own value deschedulerPolicy: the file as it is, and a dry run of it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from rescheduler.cli.main import main
from rescheduler.daemon.policies.with_descheduler import descheduler_policy_in, load_run_policy
from rescheduler.policy.fields.policy import Guidance, Mode
from tests.chart import of_kind, pod_of, render
from tests.paths import ROOT
from tests.unit.adapters.api_objects import container, node_object, pod_object

FOLDER = "/etc/rescheduler/policy"


def values_of_the_page() -> dict[str, Any]:
    """The values file that docs/from-descheduler.md begins with."""
    page = (ROOT / "docs" / "from-descheduler.md").read_text()
    found = re.search(r"```yaml\n# values\.yaml[^\n]*\n(.*?)```", page, re.DOTALL)
    assert found is not None
    values: dict[str, Any] = yaml.safe_load(found[1])
    return values


def mounted(objects: list[dict[str, Any]], folder: Path) -> list[str]:
    """The files of the policy's ConfigMap, in a folder; the arguments of the container, which name them there."""
    [config] = [item for item in of_kind(objects, "ConfigMap") if "chart.yaml" in item["data"]]
    for name, text in config["data"].items():
        (folder / name).write_text(text)
    arguments: list[str] = pod_of(objects)["spec"]["containers"][0]["args"]
    return [word.replace(FOLDER, str(folder)) for word in arguments]


def test_the_value_is_taken_as_it_is(tmp_path: Path) -> None:
    """The daemon is given the file, its interval, and our own rules beside; it stays a dry run."""
    values = values_of_the_page()
    arguments = mounted(render(values), tmp_path)
    files = [word for before, word in pairwise(arguments) if before == "--policy"]
    assert [Path(file).name for file in files] == ["descheduler.yaml", "policy.yaml", "chart.yaml"]
    assert arguments[arguments.index("--descheduling-interval") + 1] == values["deschedulingInterval"]
    policy = load_run_policy(files, 600.0)
    assert (policy.mode, policy.guidance) == (Mode.DRY_RUN, Guidance.PREDICT)
    assert policy.triggers[0].args == {"every": "10m"}
    written = descheduler_policy_in({files[0]: Path(files[0]).read_bytes()})
    assert written is not None
    head = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}
    assert yaml.safe_load((tmp_path / "descheduler.yaml").read_text()) == {**head, **values["deschedulerPolicy"]}


def test_a_dry_run_of_the_same_values(tmp_path: Path, capsys: Any) -> None:
    """What the chart mounts, planned on a recording: the page's five minutes, but for the cluster."""
    arguments = mounted(render({**values_of_the_page(), "kind": "Job"}), tmp_path)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs-web", "controller": True}
    pods = [pod_object(f"web-{number}", "a", containers=[container(cpu="1")]) for number in range(3)]
    for item in pods:
        item["metadata"]["ownerReferences"] = [owner]
    nodes = [node_object(name) for name in "abc"]
    recording = tmp_path / "cluster.json"
    recording.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [*nodes, *pods]}))
    assert arguments[0] == "plan"
    code = main([*arguments, "-f", str(recording), "-o", "json"])
    plan = json.loads(capsys.readouterr().out)
    assert code == 0
    assert {item["name"] for item in plan["objectives"]} == {"RemoveDuplicates", "LowNodeUtilization"}
    assert plan["moves"] or plan["refusals"]


def test_without_the_value_nothing_of_it_is_there() -> None:
    """Neither file nor argument."""
    objects = render()
    assert all("descheduler.yaml" not in item.get("data", {}) for item in of_kind(objects, "ConfigMap"))
    assert not any("descheduler" in word for word in pod_of(objects)["spec"]["containers"][0]["args"])


@pytest.mark.parametrize(
    ("asks", "is_granted"),
    [
        ({"metricsProviders": [{"source": "KubernetesMetrics"}]}, True),
        ({"metricsCollector": {"enabled": True}}, True),
        ({"metricsProviders": [{"source": "Prometheus", "prometheus": {"url": "http://p"}}]}, False),
        ({}, False),
    ],
)
def test_the_metrics_api_is_read_where_the_file_goes_by_it(asks: dict[str, Any], is_granted: bool) -> None:
    """No value beside it needs to say so, and nothing is granted that it does not ask for."""
    values = values_of_the_page()
    values["deschedulerPolicy"] |= asks
    roles = of_kind(render(values), "ClusterRole")
    groups = {group for role in roles for rule in role["rules"] for group in rule["apiGroups"]}
    assert ("metrics.k8s.io" in groups) is is_granted
