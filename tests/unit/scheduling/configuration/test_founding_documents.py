"""Configuration blocks as the founding documents print them, read unchanged where the documents are at hand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from rescheduler.scheduling.configuration import Configuration
from rescheduler.scheduling.scores.low_risk_over_commitment import LowRiskOverCommitmentArguments
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from tests.paths import ROOT
from tests.unit.scheduling.configuration.reading import argument, read, weights

VARIABLE = "RESCHEDULER_SEEDS"
DEFAULT = ROOT.parent / "shared" / "seeds"
FOLDER = Path(os.environ.get(VARIABLE, DEFAULT))
needs_documents = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no founding documents: {VARIABLE} names none, and none lie beside the project"
)


def document(start: str) -> str:
    """The text of the one document whose name begins so."""
    (file,) = FOLDER.glob(f"{start}_*.txt")
    return file.read_text()


def volcano_blocks() -> list[str]:
    """The fenced blocks of the usage document that configure Volcano."""
    return re.findall(r"```\s*\n(actions:.*?)\n[ \t]*```", document("002"), re.DOTALL)


def warnings(configuration: Configuration) -> str:
    """All warnings."""
    return "\n".join(configuration.warnings)


@needs_documents
def test_volcano() -> None:
    """Four blocks; what Volcano's code reads otherwise than the design is named."""
    found = [read(block) for block in volcano_blocks()]
    assert len(found) == 4
    for configuration in found:
        profile = configuration.profiles["volcano"]
        assert weights(profile)["usage"] == 5
        assert profile.usage_threshold is None
        assert {note.name for note in profile.not_modelled} >= {"gang", "conformance", "overcommit", "drf"}
    assert [one.profiles["volcano"].load_source for one in found] == [
        "prometheus at http://192.168.0.10:9090",
        "prometheus_adaptor",
        "prometheus at http://192.168.0.10:9090",
        "elasticsearch at http://192.168.0.10:9090",
    ]
    assert warnings(found[0]).count("rejects the whole file over a map") == 2
    assert warnings(found[0]).count("Volcano never reads this") == 3
    assert not found[1].warnings
    assert not found[2].warnings
    assert warnings(found[3]).count("rejects the whole file over a map") == 2


@needs_documents
def test_low_risk_over_commitment() -> None:
    """The ConfigMap of KEP-357, opened; its one weight is what today's plugin spells otherwise."""
    text = document("001")
    block = text[text.index("apiVersion: v1\nkind: ConfigMap") : text.index("Plugin Deployment")]
    configuration = read(block)
    profile = configuration.profiles["trimaran"]
    assert weights(profile) == {"LowRiskOverCommitment": 10}
    found = argument(profile, "LowRiskOverCommitment")
    assert isinstance(found, LowRiskOverCommitmentArguments)
    assert (found.smoothing_window_size, dict(found.weights)) == (5, {"cpu": 0.5, "memory": 0.5})
    assert profile.load_source == "Prometheus at http://prometheus-k8s.monitoring.svc.cluster.local:9090"
    assert "today's plugin wants riskLimitWeights" in warnings(configuration)
    assert "1.29 and newer refuse v1beta3" in warnings(configuration)


@needs_documents
def test_capacity_ratio() -> None:
    """The fragment of KEP-964: its dots, its falling points and its key for resources are named."""
    text = document("004")
    configuration = read(text[text.index('"priorities": [') : text.index("The argument resources is optional")])
    profile = configuration.profiles["default-scheduler"]
    assert weights(profile) == {"RequestedToCapacityRatioPriority": 5}
    assert argument(profile, "RequestedToCapacityRatioPriority") == NodeResourcesFit(
        "RequestedToCapacityRatio", (("intel.com/foo", 5), ("intel.com/bar", 2), ("cpu", 1)), ((0, 0), (100, 10))
    )
    told = warnings(configuration)
    assert "dots stand for entries left out" in told
    assert "utilization 0 stands after 100; kube-scheduler refuses that" in told
    assert '"intel.com/foo" is named by resource, as in KEP-964' in told
