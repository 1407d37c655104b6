"""Random nodes: sizes, labels, taints, devices, images."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.fidelity.containers import FPGA, GPU, IMAGES
from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.terms import HOST, RACK, ZONE

EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule")


def node(draw: Draw, name: str, sizes: Mapping[str, int]) -> tuple[Manifest, Manifest]:
    """A node to create, and a patch that gives it its taints instead of those that the API server adds at first.

    ``sizes``: bytes of the images that it may hold.
    """
    labels = {HOST: name} if draw.chance(96) else {}
    labels.update({key: draw.one("123") for key in (ZONE, RACK) if draw.chance(90)})
    amounts = {
        "cpu": draw.one(("2", "4", "8", "3920m")),
        "memory": draw.one(("4Gi", "8Gi", "16000Mi", "7500M")),
        "pods": draw.one(("4", "10", "110", "110", "110")),
        "ephemeral-storage": "20Gi",
        **{device: draw.one("248") for device, percent in ((GPU, 50), (FPGA, 30)) if draw.chance(percent)},
    }
    status = {
        "allocatable": amounts,
        "capacity": amounts,
        "images": [image(name, size) for name, size in sizes.items() if draw.chance(25)],
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
    }
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}
    taints = {(item["key"], item["effect"]): item for item in draw.some(lambda: taint(draw), percent=50)}
    return made, {"spec": {"taints": list(taints.values()) or None, "unschedulable": draw.seldom(12) or None}}


def image(name: str, size: int) -> Manifest:
    """An image on a node, as the kubelet tells it: with a tag, in bytes."""
    is_tagged = name.rfind(":") > name.rfind("/")
    return {"names": [name if is_tagged else f"{name}:latest"], "sizeBytes": size}


def image_sizes(draw: Draw) -> dict[str, int]:
    """Bytes of every image; one size each, as kube-scheduler takes it."""
    return {name: draw.number(10, 900) << 20 for name in IMAGES}


def taint(draw: Draw) -> Manifest:
    """A taint."""
    return {"key": draw.one(("k", "m")), "value": draw.one(("", "v")), "effect": draw.one(EFFECTS)}
