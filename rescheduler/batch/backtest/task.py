"""One task as text: the archive's place, the times, a policy, and what of the command line acts on it."""

from __future__ import annotations

from typing import Any

import msgspec

from rescheduler.batch.backtest.carried_prices import unpacked_prices
from rescheduler.daemon.plugins import PLUGINS, parse_policy
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.plan.disruption import Selection
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.overrides import overridden


class Task(msgspec.Struct, frozen=True, rename="camel"):
    """``times``: one of them, or all that a history is carried on over; ``policy``: "" where nothing is moved.

    ``prices``: as ``packed_prices`` has them; the policy's own are not looked at.
    """

    archive: str
    times: tuple[int, ...]
    policy: str
    name: str = ""
    objectives: tuple[str, ...] = ()
    deadline_seconds: float | None = None
    seed: int = 0
    namespaces: tuple[str, ...] = ()
    selector: str | None = None
    replay: bool = False
    prices: bytes = b""

    def policy_in_force(self) -> Policy:
        """The policy with its prices, and what the command line sets instead. Raises PolicyError, ValueError."""
        prices = {"prices": unpacked_prices(self.prices)}
        if not self.policy:
            return Policy().model_copy(update=prices)
        policy = parse_policy(self.policy, self.name or "policy").model_copy(update=prices)
        return overridden(
            policy, PLUGINS.objectives, objectives=self.objectives, deadline_seconds=self.deadline_seconds
        )

    def selection(self) -> Selection:
        """Which pods may be moved or helped."""
        selector = None if self.selector is None else parse_label_selector(self.selector)
        return Selection(namespaces=self.namespaces, selector=selector)


class BacktestRow(msgspec.Struct, frozen=True, rename="camel"):
    """One time of one policy; see docs/back-testing.md. ``time``: RFC 3339."""

    time: str
    policy: str
    setting: dict[str, Any]
    objectives: list[dict[str, Any]]
    evictions: int
    moves: list[dict[str, Any]]
    nodes_in_use: int
    nodes_emptied: int
    pending_before: int
    pending_after: int
    pending_minutes: float | None
    refusals: dict[str, int]
    churn: int | None
    overload: float | None
    cost: dict[str, Any] | None


class Planned(msgspec.Struct, frozen=True):
    """What a task answers for one time: its row, and how many pods of which workload were moved; or why neither.

    ``unmoved``: what the nodes cost a month where nothing is moved; ``unpriced``: nodes without a price.
    """

    time: int
    row: BacktestRow | None = None
    workloads: dict[str, int] = {}
    unmoved: float | None = None
    unpriced: int = 0
    failure: str = ""
