"""An API server in memory with what our adapters write: objects by path, versions, preconditions, and our gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.client.failures import refusal
from rescheduler.adapters.kubernetes.guidance.rule_object import RULE

HOLDS = "rescheduler-holds"
RULE_PATH = f"/api/v1/namespaces/{HOLDS}/configmaps/{RULE}"
JOBS = f"/apis/batch/v1/namespaces/{HOLDS}/jobs"
GATES = ("rescheduler.dev/guide",)


class ApiServer:
    """Stands in for a Connection. ``answers``: statuses to give instead, by (method, end of the path).

    ``gates_new_pods``: whether the admission policy is in force.
    """

    server = "https://cluster"
    server_time: float | None = None

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {f"/api/v1/namespaces/{HOLDS}": {"metadata": {"name": HOLDS}}}
        self.answers: dict[tuple[str, str], int] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.gates_new_pods = True
        self._versions = 0

    def put(self, path: str, **parts: Any) -> dict[str, Any]:
        """Keep an object as it is; its name and namespace come from its path."""
        metadata = {**self._named(path), **parts.pop("metadata", {})}
        self._versions += 1
        metadata = {"uid": f"uid-{self._versions}", "resourceVersion": str(self._versions), **metadata}
        self.objects[path] = {"metadata": metadata, **parts}
        return self.objects[path]

    def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """One object, or a list of those below a path that have the labels."""
        status = self._forced("GET", path)
        if status is None and path in self.objects:
            return msgspec.json.encode(self.objects[path])
        is_known = path.rpartition("/")[2] in ("jobs", "pods", "configmaps", "nodes")
        if status is None and (is_known or any(where.startswith(f"{path}/") for where in self.objects)):
            return msgspec.json.encode({"items": self._listed(path, params or {})})
        raise refusal(self.server, "", "GET", path, status or 404, b"{}")

    def pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """A list in one page."""
        yield self.get(path, params)

    def send(
        self, method: str, path: str, body: Any = None, *, params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Response:  # fmt: skip
        """Carry out one request."""
        del content_type
        self.asked.append((method, path, body))
        status = self._forced(method, path)
        if status is not None:
            return Response(status, {}, b'{"message": "as the test wants it"}')
        if params and params.get("dryRun"):
            return _answer(201, self._admitted(body))
        return {"POST": self._create, "PUT": self._replace, "PATCH": self._patch, "DELETE": self._delete}[method](
            path, body
        )

    def writes(self, method: str, part: str = "") -> list[str]:
        """Paths of the requests of one method that were made."""
        return [path for asked, path, _ in self.asked if asked == method and part in path]

    def _create(self, path: str, body: Any) -> Response:
        here = f"{path}/{body['metadata']['name']}"
        if here in self.objects:
            return Response(409, {}, b"{}")
        return _answer(201, self.put(here, **json.loads(json.dumps(body))))

    def _replace(self, path: str, body: Any) -> Response:
        live = self.objects.get(path)
        if live is None:
            return Response(404, {}, b"{}")
        if body["metadata"].get("resourceVersion") != live["metadata"]["resourceVersion"]:
            return Response(409, {}, b"{}")
        metadata = {key: value for key, value in body["metadata"].items() if key != "resourceVersion"}
        return _answer(200, self.put(path, **{**body, "metadata": metadata}))

    def _patch(self, path: str, body: Any) -> Response:
        live = self.objects.get(path)
        if live is None:
            return Response(404, {}, b"{}")
        if not _meets(live, body.get("metadata", {})):
            return Response(409, {}, b"{}")
        if "taints" in body.get("spec", {}):
            return _answer(200, self.put(path, **{**live, "spec": {**live["spec"], "taints": body["spec"]["taints"]}}))
        notes = live["metadata"].setdefault("annotations", {})
        notes.update(body.get("metadata", {}).get("annotations") or {})
        live["metadata"]["annotations"] = {key: value for key, value in notes.items() if value is not None}
        for item in body.get("spec", {}).get("schedulingGates") or []:
            gates = live["spec"]["schedulingGates"]
            live["spec"]["schedulingGates"] = [gate for gate in gates if gate["name"] != item["name"]]
        return _answer(200, live)

    def _delete(self, path: str, body: Any) -> Response:
        live = self.objects.get(path)
        if live is None:
            return Response(404, {}, b"{}")
        if not _meets(live, (body or {}).get("preconditions") or {}):
            return Response(409, {}, b"{}")
        del self.objects[path]
        return _answer(200, {})

    def _admitted(self, body: Any) -> Any:
        """What becomes of a new pod, as the admission policy of deploy/guide.yaml has it."""
        rule = self.objects.get(RULE_PATH)
        listed = rule["data"]["owners"].split(",") if rule and self.gates_new_pods else []
        made = json.loads(json.dumps(body))
        if any(owner.get("controller") and owner["uid"] in listed for owner in made["metadata"]["ownerReferences"]):
            made["spec"]["schedulingGates"] += [{"name": name} for name in GATES]
        return made

    def _listed(self, path: str, params: Mapping[str, str]) -> list[dict[str, Any]]:
        """Of one namespace, or of all where the path names none; with these labels."""
        prefix, _, kind = path.rpartition("/")
        wanted = [rule.partition("=") for rule in params.get("labelSelector", "").split(",") if rule]
        return [
            item
            for where, item in self.objects.items()
            if where.startswith(prefix) and where.rpartition("/")[0].endswith(f"/{kind}") and _has(item, wanted)
        ]

    def _forced(self, method: str, path: str) -> int | None:
        return next(
            (status for (verb, end), status in self.answers.items() if verb == method and path.endswith(end)), None
        )

    @staticmethod
    def _named(path: str) -> dict[str, str]:
        parts = path.split("/")
        named = {"name": parts[-1]}
        if "namespaces" in parts[:-2]:
            named["namespace"] = parts[parts.index("namespaces") + 1]
        return named


def gated_pod(api: ApiServer, name: str, plan: str = "", gates: tuple[str, ...] = GATES) -> dict[str, Any]:
    """A pod that waits at gates, noted as one of a plan."""
    notes = {"rescheduler.dev/plan": plan, "rescheduler.dev/expires": "2027-01-15T08:00:00Z", "theirs": "stays"}
    return api.put(
        f"/api/v1/namespaces/default/pods/{name}", metadata={"annotations": notes},
        spec={"schedulingGates": [{"name": gate} for gate in gates]},
    )  # fmt: skip


def our_job(api: ApiServer, name: str, plan: str) -> dict[str, Any]:
    """A placeholder Job of a plan."""
    labels = {"app.kubernetes.io/managed-by": "rescheduler", "rescheduler.dev/hold": name, "rescheduler.dev/plan": plan}
    return api.put(f"{JOBS}/{name}", metadata={"labels": labels})


def _has(item: dict[str, Any], wanted: list[tuple[str, str, str]]) -> bool:
    labels = item["metadata"].get("labels") or {}
    return all(key in labels and (not is_equal or labels[key] == value) for key, is_equal, value in wanted)


def _answer(status: int, data: Any) -> Response:
    return Response(status, {}, msgspec.json.encode(data))


def _meets(live: dict[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether an object still is the one that was read."""
    return all(wanted[key] == live["metadata"][key] for key in ("uid", "resourceVersion") if key in wanted)
