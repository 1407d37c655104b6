"""Three moves that hang together, in a cluster that somebody changes at one exact step of their run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster, condition
from tests.cluster.faults.fault_proxy import Answered, Asked, FaultProxy, Forward
from tests.cluster.guidance.guided_scenes import left_over, move, plan_of
from tests.cluster.plane.kwok import CANNOT_PULL, NEVER_READY
from tests.cluster.shapes import deployment
from tests.cluster.shapes import namespace as namespace_of
from tests.cluster.tool import HOLDS, Answer, Tool, is_known
from tests.cluster.waiting import wait_until

DISRUPTION = "singleReplicas: Allow, workloads: {maxUnavailable: 99%}"
LEDGER = "rescheduler-ledger"
APPS = ("first", "second", "apart")
OWING = ("Intended", "Open")


class Step(StrEnum):
    """When the change comes; all but the first and the last right after an answer, before anything else is asked."""

    BEFORE = "before the run"
    HELD = "after the first placeholder"
    NUMBERED = "after the plan's number"
    TRIED = "after the dry run"
    SENDING = "before the eviction gets there"
    EVICTED = "after the eviction"
    NOMINATED = "after the nomination"
    BOUND = "once the replacement is on its node"


class Scene:
    """``first`` fills b-0 and goes to c-0; then ``second`` finds room there; ``apart`` leaves a-0 too, for d-0.

    What is to be changed is most often about ``first``, so ``second`` rests on what is hit, and ``apart`` does not.
    """

    def __init__(self, cluster: Cluster, tool: Tool, proxy: FaultProxy, folder: Path) -> None:
        self.api = cluster.api
        self.cluster = cluster
        self.tool = tool
        self.namespace = "default"
        self.by_hand: list[str] = []
        """Pods on which the test itself leaves an annotation of ours."""
        self._proxy = proxy
        self._folder = folder
        self._plan: dict[str, Any] = {}
        self._trouble: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._begun: set[str] = set()

    def build(self, kind: Callable[..., Manifest] = deployment, *, namespace: str = "default", **template: Any) -> None:
        """Nodes come one after the other, so that each pod has but one place; further fields are those of ``first``."""
        cluster, self.namespace = self.cluster, namespace
        if namespace != "default":
            cluster.create(namespace_of(namespace))
        cluster.add_nodes(1, prefix="b", cpu="4", labels={"pool": "b"})
        cluster.create(kind("first", namespace=namespace, cpu="4", **template))
        if template.get("annotations"):
            wait_until(lambda: any(pod["spec"].get("nodeName") for pod in self.pods()), "the pod on its node")
            self.free(self.pod())
        cluster.wait_pods_running(1, namespace, labels="app=first")
        cluster.add_nodes(1, prefix="a", cpu="4")
        cluster.create(deployment("second", cpu="3"), deployment("apart", cpu="1"))
        for app in ("second", "apart"):
            cluster.wait_pods_running(1, labels=f"app={app}")
        cluster.add_nodes(1, prefix="c", cpu="5", labels={"pool": "c"})
        cluster.add_nodes(1, prefix="d", cpu="3")
        first, second, apart = (self.pod(app) for app in APPS)
        moves = [move(first, "c-0"), move(apart, "d-0"), move(second, "b-0", wave=2)]
        self._plan = json.loads(plan_of(cluster, *moves))

    def pods(self, app: str = "first") -> list[Manifest]:
        """The pods of a workload, those on their way out left out."""
        found = self.api.list("pods", self.namespace if app == "first" else "default", labels=f"app={app}")
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def pod(self, app: str = "first") -> Manifest:
        """Its only one."""
        [found] = self.pods(app)
        return found

    def new(self) -> list[Manifest]:
        """What came in the place of ``first``'s pod."""
        old = self.moved["first"]["uid"]
        return [pod for pod in self.pods() if pod["metadata"]["uid"] != old]

    @property
    def moved(self) -> dict[str, dict[str, str]]:
        """The pod of each move as the plan names it."""
        return {APPS[at]: self._plan["moves"][number]["pod"] for at, number in enumerate((0, 2, 1))}

    def free(self, pod: Manifest) -> None:
        """Let a pod run and get ready that would not."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        freed = {NEVER_READY: None, CANNOT_PULL: None}
        self.api.patch("pods", name, {"metadata": {"annotations": freed}}, namespace)

    def run(self, step: Step, change: Callable[[Scene], None], *options: str, disruption: str = DISRUPTION) -> Answer:
        """Carry the plan out, and let the change happen at its step; ``disruption``: that part of the policy."""
        file = self._folder / "plan.json"
        file.write_text(json.dumps(self._plan))
        self.tool.writes()
        if step is Step.BEFORE:
            change(self)
        else:
            self._proxy.meddle = lambda asked, forward: self._meddle(asked, forward, step, change)
        policy = self.tool.policy(f"guidance: Hold\nhold: {{deadline: 60s}}\ndisruption: {{{disruption}}}")
        command = ["apply", "--yes", "--plan", str(file), "--policy", policy, "-o", "json", *options]
        answer = self.tool.run(*command, code=None, timeout=200)
        for thread in self._threads:
            thread.join()
        assert not self._trouble, (self._trouble, answer)
        assert step is Step.BEFORE or "done" in self._begun, f"{step} never came: {answer}"
        return answer

    def _meddle(self, asked: Asked, forward: Forward, step: Step, change: Callable[[Scene], None]) -> Answered:
        if step is Step.SENDING and self._is_at(step, asked):
            self._do(change)
        answer = forward()
        if step is not Step.SENDING and answer.status < 300 and self._is_at(step, asked):
            if step is Step.BOUND:
                thread = threading.Thread(target=self._do_once_bound, args=(change,))
                self._threads.append(thread)
                thread.start()
            else:
                self._do(change)
        return answer

    def _is_at(self, step: Step, asked: Asked) -> bool:
        """Whether this is the step's own request, for the first time."""
        path, name = asked.path.partition("?")[0], self.moved["first"]["name"]
        is_eviction = path.endswith(f"/pods/{name}/eviction")
        is_found = {
            Step.HELD: asked.method == "POST" and path.endswith("/jobs"),
            Step.NUMBERED: asked.is_write and "/configmaps" in path and LEDGER in asked.body.decode(),
            Step.TRIED: is_eviction and not asked.is_eviction,
            Step.SENDING: is_eviction and asked.is_eviction,
            Step.EVICTED: is_eviction and asked.is_eviction,
            Step.BOUND: is_eviction and asked.is_eviction,
            Step.NOMINATED: asked.method == "PATCH" and f"/namespaces/{self.namespace}/pods/first-" in path,
        }[step]
        with self._lock:
            is_first = is_found and step not in self._begun
            if is_first:
                self._begun.add(step)
        return is_first

    def _do(self, change: Callable[[Scene], None]) -> None:
        try:
            change(self)
        except BaseException as error:  # noqa: BLE001 # it is told by the test's own thread
            self._trouble.append(error)
        self._begun.add("done")

    def _do_once_bound(self, change: Callable[[Scene], None]) -> None:
        try:
            wait_until(lambda: any(pod["spec"].get("nodeName") for pod in self.new()), "a bound replacement")
        except BaseException as error:  # noqa: BLE001 # likewise
            self._trouble.append(error)
        else:
            self._do(change)

    def outcomes(self, answer: Answer) -> tuple[str, ...]:
        """Of the three moves."""
        found = {item["pod"]["name"]: item["outcome"] for item in answer.document["moves"]}
        return tuple(found[self.moved[app]["name"]] for app in APPS)

    def said(self, answer: Answer) -> str:
        """All that was told of moves and run."""
        document = answer.document
        return "\n".join([document["message"], *(item["message"] for item in document["moves"]), *document["warnings"]])

    def evicted(self) -> list[str]:
        """Names of the pods that the API server let go: only such as the plan names, and each once at most."""
        writes = self.tool.writes()
        assert [write for write in writes if not is_known(write)] == []
        evictions = [write for write in writes if write.subresource == "eviction" and not write.is_dry_run]
        found = [write.name for write in evictions if write.code < 300]
        assert len(found) == len(set(found))
        assert {write.name for write in evictions} <= {pod["name"] for pod in self.moved.values()}
        return found

    def assert_nothing_lost(self, missing: int, pending: int) -> None:
        """Each workload that is still wanted has its pods, but for so many that are not let in, or wait for a node."""

        def wants() -> dict[str, int]:
            owners = [*self.api.list("deployments"), *self.api.list("statefulsets")]
            return {item["metadata"]["name"]: item["spec"]["replicas"] for item in owners}

        def lacks() -> list[int]:
            return [wanted - len(self.pods(app)) for app, wanted in wants().items()]

        def is_complete() -> bool:
            return min(lacks(), default=0) >= 0 and sum(lacks()) == missing

        wait_until(is_complete, lambda: f"{missing} pods to be missing of {wants()}, not {lacks()}")

        def waiting() -> list[str]:
            pods = [pod for app in wants() for pod in self.pods(app)]
            return [pod["metadata"]["name"] for pod in pods if condition(pod, "Ready") != "True"]

        wait_until(lambda: len(waiting()) == pending, lambda: f"{pending} pods that wait, not {waiting()}")

    def assert_nothing_left(self, evicted: list[str]) -> None:
        """No placeholder, annotation, gate, nomination or taint of ours, and no open entry of a pod that stayed."""
        left = [name for name in left_over(self.cluster) if name not in self.by_hand]
        assert left == []
        nominated = [pod["metadata"]["name"] for pod in self.api.list("pods") if pod["status"].get("nominatedNodeName")]
        waiting = [pod["metadata"]["name"] for app in APPS for pod in self.pods(app) if not pod["spec"].get("nodeName")]
        assert set(nominated).isdisjoint(waiting)
        taints = [taint for node in self.api.list("nodes") for taint in node["spec"].get("taints", [])]
        assert not [taint for taint in taints if taint["key"].startswith("rescheduler.dev/")]
        entries = self.tool.run("history", "-o", "json").document["entries"]
        assert {entry["pod"]["name"] for entry in entries if entry["state"] in OWING} <= set(evicted)


def ensure_holds(scene: Scene) -> None:
    """The namespace of placeholders and ledger, where it is not there yet."""
    if not any(item["metadata"]["name"] == HOLDS for item in scene.api.list("namespaces")):
        scene.api.create(namespace_of(HOLDS))
