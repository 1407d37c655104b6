"""Several configurations as one, and resources that no node offers."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import ConfigurationError, built_in, combined, resources_unknown
from tests.unit.scheduling.configuration.reading import configured, kube, read

VOLCANO = "actions: allocate\ntiers: [{plugins: [{name: binpack, arguments: {binpack.resources: a.b/gpu}}]}]\n"


def test_several_sources() -> None:
    """Profiles stand side by side; kube-scheduler's defaults are added where nobody configures them."""
    found = combined([("v.conf", read(VOLCANO)), ("k.yaml", read(kube("profiles: [{schedulerName: mine}]")))])
    assert list(found.profiles) == ["volcano", "mine", "default-scheduler"]
    assert found.profiles["default-scheduler"] == built_in().profiles["default-scheduler"]


def test_warnings_of_all_sources() -> None:
    """None is lost."""
    old = read(kube("profiles: [{schedulerName: old}]", "v1beta3"))
    found = combined([("k", old), ("v", read(VOLCANO + "speed: 1\n"))])
    assert len(found.warnings) == 2


def test_no_source() -> None:
    """Without any, kube-scheduler's defaults are all there is."""
    assert combined([]).profiles == built_in().profiles


def test_a_scheduler_twice() -> None:
    """One scheduler cannot be configured in two places."""
    with pytest.raises(ConfigurationError) as caught:
        combined([("a.yaml", read(kube(""))), ("b.yaml", read(kube("")))])
    assert str(caught.value).startswith('b.yaml: scheduler "default-scheduler" is configured in a.yaml already')


def test_resources_that_no_node_offers() -> None:
    """Each is one warning with the nearest name that nodes have."""
    lines = "scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpus}, {name: cpu}]}"
    offered = ["cpu", "memory", "nvidia.com/gpu"]
    (warning,) = resources_unknown(read(configured("NodeResourcesFit", lines)), offered)
    assert warning == (
        'scheduler default-scheduler: NodeResourcesFit weighs "nvidia.com/gpus", which no node offers, so it never '
        "counts; did you mean nvidia.com/gpu?"
    )
    assert resources_unknown(read(kube("")), offered) == ()
    (warning,) = resources_unknown(read(VOLCANO), offered)
    assert "binpack weighs" in warning
