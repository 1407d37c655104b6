"""A daemon's API in the test's own process: set by hand, asked as over the network, its reviewer a fake."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI

from rescheduler.daemon.api.daemon_app import create_daemon_app
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.serving.call_names import CallNames
from rescheduler.daemon.steering.controls import Controls
from rescheduler.daemon.steering.explaining import Basis, Explaining
from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.extension_points import AccessReviewer, ClusterError
from rescheduler.model.daemon.account import Account, ApiRight
from rescheduler.model.daemon.notices import Notice, PolicyLoaded, RoundEnded, Started
from rescheduler.model.plan.plan import Refusal
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import Answer, ask
from tests.unit.daemon.plans import plan, reference, report, result

HOST = "127.0.0.1:2021"
WORLD = cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n2"), pod("big"), workload("a", 2))
REFUSALS = tuple(
    Refusal("PodDisruptionBudget" if number % 2 else "Scope", f"why {number}", pod=reference(f"p{number}", namespace))
    for number, namespace in enumerate(["default", "default", "other", "other", "other"])
)


class FakeReviewer(AccessReviewer):
    """Tokens by the name that they stand for; every account may do everything but what is ``denied``."""

    def __init__(self) -> None:
        self.denied: set[ApiRight] = set()
        self.denies_all = False
        self.is_down = False
        self.rights_down = False
        self.asked: list[str] = []
        self.rights: list[ApiRight] = []

    def account_of(self, token: str) -> Account | None:
        """``token-jane`` is jane's."""
        self.asked.append(token)
        if self.is_down:
            raise ClusterError("the API server is away")
        return Account(token.removeprefix("token-")) if token.startswith("token-") else None

    def allows(self, account: Account, right: ApiRight) -> bool:
        """Everything that is not denied."""
        self.rights.append(right)
        if self.rights_down:
            raise ClusterError("the API server is away")
        return not self.denies_all and right not in self.denied


class LoopThread:
    """A thread that does nothing but answer what others ask of the loop."""

    def __init__(self) -> None:
        self._has_mail = threading.Event()
        self._begun = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self._begun.wait()

    def _run(self) -> None:
        self.inbox = Inbox(self._has_mail.set)
        self._begun.set()
        while True:
            self._has_mail.wait()
            self._has_mail.clear()
            self.inbox.answer()


LOOP = LoopThread()
"""Of all benches."""


class DaemonBench:
    """Round 1 made plan "first", which was carried out; round 2 made "second", which waits."""

    def __init__(self, *, names: CallNames | None = None, **given: Any) -> None:
        self.clock = FakeClock()
        self.reviewer = FakeReviewer()
        self.told: list[Notice] = []
        self.faults: list[str] = []
        self.controls = Controls(self.clock, self.tell, **{"inbox": LOOP.inbox, **given})
        self.basis = PageBasis(Policy())
        self.app: FastAPI = create_daemon_app(
            self.controls.people,
            Explaining(self.controls.state, lambda: Basis(Policy())),
            self.reviewer,
            self.clock,
            names=names,
            tell=self.faults.append,
            basis=lambda: self.basis,
        )

    def tell(self, notice: Notice) -> None:
        """To everybody."""
        self.told.append(notice)
        self.controls.hear(notice)

    def begin(self) -> DaemonBench:
        """What happened before the test."""
        first, second = plan("a-1"), plan("a-2", refusals=REFUSALS)
        self.tell(Started(NOW, "1.0", "Approve", "p1"))
        self.tell(PolicyLoaded(NOW, "p1", "quiet", "Approve"))
        self.controls.publish(WORLD)
        done = report(1, plan_id="first", plan=first, result=result(first), approved_by="joe", seconds={"plan": 0.5})
        self.tell(RoundEnded(NOW, done))
        self.tell(RoundEnded(NOW, report(2, plan_id="second", plan=second, reason="the policy's mode is Approve")))
        self.controls.propose("second", second, NOW)
        self.told.clear()
        return self

    def ask(
        self,
        target: str,
        method: str = "GET",
        *,
        who: str | None = "jane",
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: Any = None,
        parts: Sequence[bytes] | None = None,
    ) -> Answer:
        """An answer; ``body`` is sent as JSON, ``parts`` as they are."""
        given = [("Host", HOST)] if "host" not in {name.lower() for name in dict(headers)} else []
        if who is not None:
            given.append(("Authorization", f"Bearer token-{who}"))
        if body is not None:
            given.append(("Content-Type", "application/json"))
        given += list(headers.items() if isinstance(headers, Mapping) else headers)
        sent = parts if parts is not None else [b"" if body is None else json.dumps(body).encode()]
        return ask(self.app, target, method, given, sent)

    def post(self, target: str, body: Any = None, **given: Any) -> Answer:
        """A POST with JSON."""
        return self.ask(target, "POST", body={} if body is None else body, **given)


def bench(**given: Any) -> DaemonBench:
    """One with a past."""
    return DaemonBench(**given).begin()


def refused(answer: Answer, status: int, text: str = "") -> Answer:
    """The answer, which refuses in our one form."""
    assert answer.status == status, (answer.status, answer.body)
    assert (answer.json["kind"], answer.json["status"]) == ("Error", status)
    assert text in answer.json["message"]
    assert answer.headers["content-type"] == "application/json"
    return answer
