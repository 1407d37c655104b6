"""Nodes that hold the pod's images already, large ones and ones that many nodes hold, score higher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.plugin import NodeOrder, Priority, SchedulerScore
from rescheduler.scheduling.scoring.normalization import MAX_SCORE

_MIB = 1024 * 1024
LEAST_BYTES = 23 * _MIB
MOST_BYTES_PER_CONTAINER = 1000 * _MIB


@dataclass(frozen=True)
class ImageLocality(SchedulerScore):
    """Bytes present, each image weighed by the share of nodes that hold it; no normalisation."""

    name = "ImageLocality"
    priorities = (Priority("ImageLocalityPriority"),)
    node_order = (NodeOrder("imagelocality.weight", "ImageLocality", 1),)

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:  # noqa: ARG002 - one node at a time
        """Score of each node by the bytes of the pod's images that it holds."""
        columns = placement.columns
        spec = columns.shapes[columns.shape_of[pod]]
        return columns.facts(ImageBytes).scores(spec.images, spec.container_count)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Bytes of the pod's images on the node, and how they lie between the least and the most that count."""
        columns = placement.columns
        spec = columns.shapes[columns.shape_of[pod]]
        scores, present = self.score(pod, placement, feasible), columns.facts(ImageBytes).present(spec.images)
        containers = max(spec.container_count, 1)
        least, most = LEAST_BYTES // _MIB, containers * MOST_BYTES_PER_CONTAINER // _MIB
        texts = []
        for node in nodes:
            held = f"{present[node] / _MIB:.1f}"
            formula = f"100 x ({held} - {least}) / ({most} - {least})"
            if present[node] <= LEAST_BYTES:
                formula = f"up to {least} MiB count nothing"
            elif present[node] >= containers * MOST_BYTES_PER_CONTAINER:
                formula = f"no more than {most} MiB count"
            lead = "the pod's images on the node, each weighed by the share of nodes that hold it"
            texts.append(f"{lead}: {held} MiB; {formula} = {scores[node]}")
        return texts


class ImageBytes:
    """Images on the nodes, and the scores that follow from them, kept by value.

    An image has one size for kube-scheduler, that on the node it saw first; a scheduler that starts sees the nodes in
    the order of their names.
    """

    def __init__(self, columns: Columns) -> None:
        """Read the nodes' images once."""
        nodes = columns.cluster.nodes
        self._width = len(nodes)
        holders = Counter(name for node in nodes for name in dict(node.images))
        self._weighed: dict[str, int] = {}
        self._nodes: dict[str, list[int]] = {}
        for number, node in enumerate(nodes):
            for name, size in dict(node.images).items():
                self._weighed.setdefault(name, int(size * (holders[name] / self._width)))
                self._nodes.setdefault(name, []).append(number)
        self._kept: dict[tuple[tuple[str, ...], int], IntArray] = {}

    def present(self, images: tuple[str, ...]) -> IntArray:
        """Weighed bytes of these images on each node, int64[N], in a fresh array."""
        present = np.zeros(self._width, dtype=np.int64)
        for name in map(with_tag, images):
            present[self._nodes.get(name, [])] += self._weighed.get(name, 0)
        return present

    def scores(self, images: tuple[str, ...], container_count: int) -> IntArray:
        """Score of each node, int64[N], for these images (one for each container); do not write to it."""
        found = self._kept.get((images, container_count))
        if found is None:
            present = self.present(images)
            most = MOST_BYTES_PER_CONTAINER * max(container_count, 1)
            found = MAX_SCORE * (np.clip(present, LEAST_BYTES, most) - LEAST_BYTES) // (most - LEAST_BYTES)
            self._kept[images, container_count] = found
        return found


def with_tag(image: str) -> str:
    """The image's name with ``:latest`` where it has no tag (a port of the registry is none)."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
