"""Finds out whether the gate rule bites: a pod that is created for the look of it only (server-side dry run)."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import refusal
from rescheduler.adapters.kubernetes.paths import pod_path
from rescheduler.adapters.kubernetes.placeholders import placeholder
from rescheduler.extension_points import Clock, ClusterError, HoldRequest
from rescheduler.model.annotations import GUIDE_GATE, HOLD_GATE

PATIENCE_SECONDS: Final = 15.0
"""A policy that was just installed may take ten seconds to come into force, a changed parameter a third of one."""
PAUSE_SECONDS: Final = 0.05


class GateProbe:
    """Asks the API server what it would make of a new pod. Nothing is ever created."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock

    def wait(self, name: str, owner: str, *, is_gated: bool) -> None:
        """Return when a new pod of this owner (uid) would be gated, or not be. Raises ClusterError."""
        began = self._clock.monotonic()
        while self._is_gated(name, owner) is not is_gated:
            if self._clock.monotonic() - began > PATIENCE_SECONDS:
                raise ClusterError(
                    f"the admission policy of deploy/guide.yaml does not gate new pods {PATIENCE_SECONDS:.0f} s after "
                    "it was told to"
                    if is_gated
                    else f"new pods are still gated {PATIENCE_SECONDS:.0f} s after the gate rule was taken away"
                )
            self._clock.sleep(PAUSE_SECONDS)

    def _is_gated(self, name: str, owner: str) -> bool:
        path = pod_path(self._namespace)
        answer = self._connection.send("POST", path, self._pod(name, owner), params={"dryRun": "All"})
        if answer.status >= 300:
            raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        spec = msgspec.json.decode(answer.body)["spec"]
        gates = {gate["name"] for gate in spec.get("schedulingGates") or []}
        if HOLD_GATE not in gates:
            raise ClusterError("new pods lose the scheduling gates they were created with; no pod can be guided here")
        return GUIDE_GATE in gates

    def _pod(self, name: str, owner: str) -> dict[str, Any]:
        """A pod as a placeholder is one: what a strict admission lets through there, it lets through here."""
        request = HoldRequest(name, "", (), "", "default-scheduler", 1, "probe")
        template = placeholder([request], name, self._namespace, self._clock.now())["spec"]["template"]
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner, "controller": True}
        metadata = {"name": f"{name}-probe", "namespace": self._namespace, "ownerReferences": [reference]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
