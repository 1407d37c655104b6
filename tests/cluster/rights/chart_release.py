"""What a release of the chart puts into a cluster besides its workload, and a kubeconfig of its service account."""

from __future__ import annotations

from pathlib import Path

from tests.chart import NAMESPACE, Manifest, Values, render
from tests.cluster.cluster import Cluster
from tests.cluster.plane.audit import OUR_ACCOUNT
from tests.cluster.tool import Tool

ACCOUNT = "rescheduler"
WORKLOADS = ("Deployment", "CronJob", "Job", "ServiceMonitor", "PrometheusRule")


class Release:
    """A release that runs out of the cluster: its rights and its policy are those of the chart.

    ``more``: a policy that wins over the chart's, such as an address that is free on this machine.
    """

    def __init__(self, cluster: Cluster, folder: Path, values: Values, more: str = "") -> None:
        cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        self.objects = [item for item in render(values) if item["kind"] not in WORKLOADS]
        for item in sorted(self.objects, key=lambda item: item["kind"] != "Namespace"):
            cluster.api.apply(item)
        self.tool = Tool(cluster, folder)
        self.tool.kubeconfig = cluster.control_plane.service_account_kubeconfig(ACCOUNT, NAMESPACE)
        self.tool.user = OUR_ACCOUNT
        self.policies = self._written(folder, more)

    def _written(self, folder: Path, more: str) -> list[str]:
        """The policy files as options."""
        [config] = [item for item in self.objects if item["kind"] == "ConfigMap" and "chart.yaml" in item["data"]]
        files = {**{name: config["data"][name] for name in ("policy.yaml", "chart.yaml")}, "more.yaml": more}
        for name, text in files.items():
            (folder / name).write_text(text)
        return [option for name, text in files.items() if text for option in ("--policy", str(folder / name))]

    def granted_writes(self) -> set[tuple[str, str]]:
        """Verb and resource of everything that the release's roles let it write."""
        rules = [rule for item in self.objects if item["kind"] in ("Role", "ClusterRole") for rule in item["rules"]]
        return {
            (verb, resource)
            for rule in rules for resource in rule["resources"] for verb in rule["verbs"]
            if verb not in ("get", "list", "watch")
        }  # fmt: skip

    def role(self, kind: str, name: str) -> Manifest:
        """One of its roles."""
        [found] = [item for item in self.objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
        return found
