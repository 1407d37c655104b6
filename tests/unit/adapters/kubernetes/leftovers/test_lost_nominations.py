"""Pods that are nominated to room which nobody makes any more: found by the ledger, by whoever clears up."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.guidance.nominations import withdraw
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.adapters.kubernetes.leftovers.cleaning import find_leftovers, remove_leftovers
from rescheduler.adapters.kubernetes.leftovers.lost_nominations import find_nominations, withdraw_nominations
from rescheduler.adapters.kubernetes.leftovers.orphans import tidy_up
from rescheduler.adapters.kubernetes.leftovers.stale_leftovers import remove_stale
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import Ledger, Nomination
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW
from tests.unit.adapters.kubernetes.api_server import HOLDS, ApiServer

LEDGER = "rescheduler-ledger"
PODS = "/api/v1/namespaces/default/pods"


class Api(ApiServer):
    """One that knows a pod's status too."""

    server_time = NOW

    def _patch(self, path: str, body: Any) -> Any:
        if not path.endswith("/status"):
            return super()._patch(path, body)
        path = path.removesuffix("/status")
        answer = super()._patch(path, {"metadata": body["metadata"]})
        if answer.status == 200:
            self.objects[path]["status"].update(body["status"])
        return answer

    def nominated(self, name: str) -> str | None:
        """Where a pod is nominated to."""
        found: str | None = self.objects[f"{PODS}/{name}"]["status"].get("nominatedNodeName")
        return found


def put_pod(api: Api, name: str, node: str | None, **status: Any) -> Any:
    """A pending pod that is nominated to a node."""
    spec = {"containers": [{"name": "main"}], "schedulerName": "default-scheduler"}
    told = {"phase": "Pending", "nominatedNodeName": node, **status}
    return api.put(f"{PODS}/{name}", metadata={"uid": f"uid-{name}"}, spec=spec, status=told)


def nomination(name: str, run: str = "r1", node: str = "n1", expires_at: float = NOW + 60) -> Nomination:
    """As it stands in the ledger."""
    return Nomination(PodReference("default", name, f"uid-{name}"), node, NOW - 30, expires_at, run)


@pytest.fixture
def api() -> Api:
    """A server with a ledger of three nominations: one of another run, and one that the scheduler has changed."""
    server = Api()
    kept = (nomination("big"), nomination("other", run="r2", expires_at=NOW - 60), nomination("moved"))
    store = ShardedLedger(ConfigMaps(server, HOLDS, keep_seconds=0.0), LEDGER, counted_seconds=0.0)  # type: ignore[arg-type]
    assert store.write(Ledger(nominations=kept), store.read().version)
    for name, node in (("big", "n1"), ("other", "n1"), ("moved", "n2"), ("stranger", "n1")):
        put_pod(server, name, node)
    return server


def names(api: Api) -> dict[str, str | None]:
    """Where each pod is nominated to."""
    return {name: api.nominated(name) for name in ("big", "other", "moved", "stranger")}


def test_those_that_stand_as_they_were_written_are_found(api: Api) -> None:
    """A pod that the scheduler itself has nominated elsewhere meanwhile is none, nor one that we never wrote down."""
    found = find_nominations(api, HOLDS, LEDGER)  # type: ignore[arg-type]
    assert [item.pod.name for item in found] == ["big", "other"]


def test_the_guardian_takes_off_those_of_its_run_alone(api: Api) -> None:
    """At once: their run is dead."""
    assert tidy_up(api, HOLDS, "r1", ledger=LEDGER) == 1  # type: ignore[arg-type]
    assert names(api) == {"big": None, "other": "n1", "moved": "n2", "stranger": "n1"}
    assert tidy_up(api, HOLDS, "r1", ledger=LEDGER) == 0  # type: ignore[arg-type]
    assert withdraw_nominations(api, HOLDS, LEDGER, "r3") == 0  # type: ignore[arg-type]


def test_clean_stale_takes_off_what_has_run_out(api: Api) -> None:
    """By the server's clock."""
    cleaned = remove_stale(api, HOLDS, lambda: 0.0)  # type: ignore[arg-type]
    text = "Nomination of pod default/other to n1, where its room was to be made"
    assert [item.text for item in cleaned.removed] == [text]
    assert names(api) == {"big": "n1", "other": None, "moved": "n2", "stranger": "n1"}


def test_clean_takes_off_all_of_ours(api: Api) -> None:
    """Of the ledger that the policy names; without the right to read one there is nothing of ours."""
    found = find_leftovers(api, HOLDS)  # type: ignore[arg-type]
    assert [(item.kind, item.name) for item in found] == [("Nomination", "big"), ("Nomination", "other")]
    assert len(remove_leftovers(api, found)) == 2  # type: ignore[arg-type]
    assert names(api) == {"big": None, "other": None, "moved": "n2", "stranger": "n1"}
    assert find_leftovers(api, HOLDS, "another-ledger") == []  # type: ignore[arg-type]
    api.answers["GET", LEDGER] = 403
    assert find_leftovers(api, HOLDS) == []  # type: ignore[arg-type]
    assert remove_stale(api, HOLDS, lambda: 0.0) == ((), ())  # type: ignore[arg-type]


def test_a_pod_that_changes_meanwhile_is_read_again(api: Api) -> None:
    """And given up where it never rests; one that is bound, gone or another has no nomination to take off."""
    api.answers["PATCH", "/status"] = 409
    with pytest.raises(ClusterError, match="changes all the time"):
        withdraw(api, "default", "big", "uid-big", "n1")  # type: ignore[arg-type]
    del api.answers["PATCH", "/status"]
    assert not withdraw(api, "default", "big", "uid-another", "n1")  # type: ignore[arg-type]
    assert not withdraw(api, "default", "gone", "uid-gone", "n1")  # type: ignore[arg-type]
    put_pod(api, "bound", None, phase="Running")["spec"]["nodeName"] = "n1"
    assert not withdraw(api, "default", "bound", "uid-bound", "n1")  # type: ignore[arg-type]
    assert withdraw(api, "default", "big", "uid-big", "n1")  # type: ignore[arg-type]
