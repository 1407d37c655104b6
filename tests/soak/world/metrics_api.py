"""A resource metrics API that lies at times (F21 to F25), and what one process of the rescheduler makes of it.

The product's own adapter reads its bytes, the product's own collector judges them, and the gate is told by its trust.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.metrics.metrics_server import NODES_PATH, MetricsServerArguments, MetricsServerProvider
from rescheduler.composition.load.daemon_load import CollectedLoad, OwnMoves
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.usage.collecting.collector import Collector
from tests.soak.world.lies import Lie

WORDS: Final = {
    "NaN": "NaN", "infinite": "Inf", "negative": "-513m", "2^64-1": str(2**64 - 1), "1e308": "1e308", "words": "much",
    "null": None,
}  # fmt: skip


class MetricsApi:
    """What metrics-server says of the nodes of a world, in bytes; each process asks one of its own."""

    server = "https://metrics"

    def __init__(self, random: Random, snapshot: Callable[[], Cluster], epoch: Callable[[], float]) -> None:
        """``snapshot`` and ``epoch``: the truth."""
        self.lie: Lie | None = None
        self._random = random
        self._snapshot = snapshot
        self._epoch = epoch
        self._since = 0.0
        self._kept: dict[str, float] = {}

    def begin(self, lie: Lie) -> None:
        """From now on it is wrong in this way."""
        self.lie, self._since = lie, self._epoch()
        self._kept = {node.name: self._share(node) for node in self._snapshot().nodes}

    def end(self) -> None:
        """It tells the truth again."""
        self.lie = None

    def without_credentials(self, text: str) -> str:
        """There are none."""
        return text

    def get(self, path: str) -> bytes:
        """As ``send``."""
        return self.send("GET", path).body

    def send(self, _method: str, path: str, **_: Any) -> Response:
        """An answer. Raises ClusterError where there is none."""
        name = self.lie.name if self.lie is not None else ""
        if name == "down":
            raise ClusterError("connection refused")
        if name == "not served":
            return Response(404, {}, b'{"kind":"Status","code":404}')
        items = [] if name == "empty list" else self._nodes(name) if path == NODES_PATH else self._pods()
        body = json.dumps({"items": items}).encode()
        return Response(200, {}, body[: len(body) // 2] if name == "cut off" else body)

    def _nodes(self, lie: str) -> list[dict[str, Any]]:
        return [item for node in self._snapshot().nodes for item in self._items(node, lie)]

    def _items(self, node: Node, lie: str) -> list[dict[str, Any]]:
        share = self._told_share(node, lie)
        usage: dict[str, Any] = {"cpu": f"{share * 4e9:.0f}n", "memory": f"{int(share * 16 * 2**30)}"}
        if lie in WORDS:
            usage = dict.fromkeys(usage, WORDS[lie])
        name = {"with port": f"{node.name}:10250", "FQDN": f"{node.name}.example.com"}.get(lie, node.name)
        item = {
            "metadata": {"name": f"other-{name}" if lie == "another cluster's" else name},
            "timestamp": self._time(lie),
            "usage": {} if lie == "without usage" else usage,
        }
        if lie != "twice":
            return [item]
        return [item, {**item, "usage": {"cpu": f"{(share + 0.3) * 4e9:.0f}n", "memory": f"{2**30}"}}]

    def _told_share(self, node: Node, lie: str) -> float:
        share = self._share(node)
        told = {"all zero": 0.0, "all equal": 0.5, "frozen": self._kept.get(node.name, 0.4), "halved": share / 2}
        return told.get(lie, share)

    def _share(self, node: Node) -> float:
        """Of the node's cpu: what its pods asked for, most of it, and never the same twice."""
        asked = sum(
            dict(pod.spec.requests).get(CPU, 0) for pod in self._snapshot().pods_by_node.get(node.name, ())
        )  # fmt: skip
        return 0.05 + 0.7 * asked / dict(node.capacity)[CPU] + 0.02 * self._random.random()

    def _pods(self) -> list[dict[str, Any]]:
        return [
            {
                "metadata": {"namespace": pod.namespace, "name": pod.name},
                "timestamp": self._time(""),
                "containers": [{"usage": {
                    "cpu": f"{dict(pod.spec.requests).get(CPU, 0) * 700_000}n",
                    "memory": f"{dict(pod.spec.requests).get(MEMORY, 0) // 2}",
                }}],
            }
            for pod in self._snapshot().pods
            if pod.node_name is not None and pod.phase == "Running"
        ]  # fmt: skip

    def _time(self, lie: str) -> str:
        now = self._epoch()
        at = {"from the future": now + 3600, "from the past": now - 3600, "one time for ever": self._since - 5}
        return datetime.fromtimestamp(at.get(lie, now - 5), UTC).isoformat().replace("+00:00", "Z")


class ProcessUsage:
    """The load that one process has measured, by the product's collector; it ticks until the process is dead."""

    def __init__(self, api: MetricsApi, policy: UsagePolicy, snapshot: Callable[[], Cluster], clock: Clock) -> None:
        provider = MetricsServerProvider(
            MetricsServerArguments(timeout=3600.0),  # of real time, which must decide nothing here
            api,  # type: ignore[arg-type]
        )
        self.own_moves = OwnMoves(snapshot, max(policy.windows))
        self._collector = Collector([provider], lambda: self.own_moves.observed(snapshot()), policy)
        self._clock = clock
        self.load = CollectedLoad(
            lambda: self._collector.collected, self.own_moves.touched_before, clock, policy.trust.coverage
        )

    def tick(self) -> None:
        """Ask once."""
        self._collector.tick(self._clock.now())
