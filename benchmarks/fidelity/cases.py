"""Lets the pods of a world go one after another, and compares each with what was foretold."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from benchmarks.fidelity.comparison import Judgement, Seen
from benchmarks.fidelity.draw import Manifest
from benchmarks.fidelity.oracle import Oracle
from benchmarks.fidelity.volume_controller import bind_claims
from tests.cluster.api import Api

LOOK_EVERY: Final = 10
"""After so many cases the cluster is read afresh; in between the model assumes what it saw."""
_WAIT_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.005
_DECIDED_SECONDS: Final = 1.0


def judgements(api: Api, oracle: Oracle, pods: list[Manifest]) -> Iterator[tuple[Manifest, Judgement]]:
    """Each pod with its case, in order; a pod that fits nowhere is deleted at once, so that it is not tried again."""
    for number, pod in enumerate(pods):
        if number % LOOK_EVERY == 0 or pod["spec"].get("volumes"):
            oracle.look()
        metadata = pod["metadata"]
        key = f"{metadata['namespace']}/{metadata['name']}"
        foretold = oracle.foretell(key)
        seen = let_go(api, pod)
        yield pod, Judgement(pod["spec"]["schedulerName"], foretold, seen)
        if seen.node is not None:
            oracle.follow(key, seen.node)
            if pod["spec"].get("volumes"):
                oracle.look()
        else:
            api.delete("pods", metadata["name"], metadata["namespace"], grace_seconds=0)


def let_go(api: Api, pod: Manifest) -> Seen:
    """Take the pod's gate away and wait for the scheduler's answer. Raises TimeoutError where none comes."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    api.patch("pods", name, {"spec": {"schedulingGates": None}}, namespace)
    has_claims = any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", ()))
    begun = time.monotonic()
    while time.monotonic() < begun + _WAIT_SECONDS:
        found = api.get("pods", name, namespace)
        seen = answer(found)
        if seen is not None:
            return seen
        if has_claims:
            bind_claims(api, found, is_chosen=time.monotonic() > begun + _DECIDED_SECONDS)
        time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"no answer of the scheduler for pod {namespace}/{name} within {_WAIT_SECONDS:g} s")


def answer(pod: Manifest) -> Seen | None:
    """What the scheduler has said of a pod, None as long as it has not."""
    node = pod["spec"].get("nodeName")
    if node:
        return Seen(node)
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            return Seen(None, condition.get("message", ""))
    return None
