"""Random worlds of the fidelity benchmark: the same for a seed, and with everything in them that it claims to mix."""

from __future__ import annotations

import json

from benchmarks.fidelity.profiles import MEASURED, PROBE, TEXT
from benchmarks.fidelity.world import World, random_world
from rescheduler.scheduling.configuration import read_configuration

WORLDS = [random_world(seed, 25) for seed in range(12)]


def test_a_seed_gives_one_world() -> None:
    """Again and again; another seed gives another."""
    assert random_world(5, 25) == WORLDS[5] != random_world(6, 25)


def test_sizes_are_those_promised() -> None:
    """5 to 60 nodes, pods on them, so many to ask about, under every profile."""
    assert all(5 <= len(world.nodes) <= 60 and world.standing and len(world.cases) == 25 for world in WORLDS)
    assert {pod["spec"]["schedulerName"] for world in WORLDS for pod in world.cases} == set(MEASURED)


def test_every_rule_takes_part() -> None:
    """Each kind of constraint stands in some pod that is asked about, each kind of object in some world."""
    cases = json.dumps([world.cases for world in WORLDS])
    for field in (
        "nodeSelector", "nodeAffinity", "matchFields", "podAffinity", "podAntiAffinity", "namespaceSelector",
        "tolerations", "topologySpreadConstraints", "minDomains", "matchLabelKeys", "nodeTaintsPolicy", "hostPort",
        "initContainers", "restartPolicy", "runtimeClassName", "persistentVolumeClaim", "gcePersistentDisk",
        "priorityClassName", "ownerReferences", "example.com/gpu", "devices.example.com/fpga", "ephemeral-storage",
        "preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution",
        "DoNotSchedule", "ScheduleAnyway", '"resources": {"requests": {"cpu"',
    ):  # fmt: skip
        assert field in cases, field
    assert {item["kind"] for world in WORLDS for item in _objects(world)} >= {
        "Service", "ReplicaSet", "StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment",
        "PersistentVolume", "PersistentVolumeClaim",
    }  # fmt: skip
    assert any(world.leaving for world in WORLDS)
    assert any(world.guests for world in WORLDS)


def test_the_configuration_is_read_without_a_warning() -> None:
    """All profiles, and nothing in it that is not modelled in a way that matters."""
    found = read_configuration(TEXT, "profiles", scheduler_name=None)
    assert set(found.profiles) == {*MEASURED, PROBE}
    assert found.warnings == ()


def _objects(world: World) -> list[dict[str, object]]:
    return [*world.fixtures, *world.claims, *world.volumes]
