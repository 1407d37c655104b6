"""Has the machines of a plan made before any of its moves, or leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from rescheduler.execution.buying.orders import (
    MachineOrder,
    fillers_of,
    orders_of,
    request_for,
    told,
    with_nodes_that_came,
)
from rescheduler.execution.buying.promise import not_as_promised
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import Clock, ClusterError, MachineMarket, Progress, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.plan.plan import Plan

PAUSE_SECONDS: Final = 1.0
FILLING_SECONDS: Final = 30.0
"""So long the scheduler may take to put a placeholder on a node that has room for it."""


class BuyingSettings(NamedTuple):
    """``patience_seconds``: how long machines are waited for. ``hold_seconds``: so long what asks for them outlives
    this process. ``stopped``: why nothing more may be done; None: it may.
    """

    run_id: str
    patience_seconds: float
    hold_seconds: int
    stopped: Callable[[], str | None] = lambda: None
    progress: Progress = no_progress


class Bought(NamedTuple):
    """``plan``: for the nodes that came. ``nodes``: their names by those of the machines. ``cluster``: with them."""

    plan: Plan
    nodes: Mapping[str, str]
    cluster: Cluster


class Buyer:
    """For one plan. ``read``: a snapshot of the cluster. Raises ClusterError."""

    def __init__(
        self, market: MachineMarket, read: Callable[[], Cluster], clock: Clock, settings: BuyingSettings
    ) -> None:
        self._market = market
        self._read = read
        self._clock = clock
        self._settings = settings
        self._began = self._renewed_at = clock.monotonic()
        self._fillers: tuple[str, ...] = ()
        self._seen: set[int] = set()
        self._missing = "nothing has come"

    def buy(self, plan: Plan, cluster: Cluster) -> Bought:
        """Ask for each machine that the plan names, and wait until all are Ready and as promised.

        ``cluster``: as it is now. What asks for them is gone when this returns, however it ends. Raises
        PlanStoppedError where they do not come: nothing was moved.
        """
        orders = orders_of(plan, cluster)
        self._await_others()
        self._renewed_at = self._clock.monotonic()
        fillers = fillers_of(orders, cluster)
        self._fillers = tuple(fillers)
        placeholders = (*fillers.values(), *(order.placeholder for order in orders))
        with self._withdrawing():
            if fillers:
                self._ask(placeholders, len(fillers))
                self._await_fillers()
            self._ask(placeholders)
            nodes, cluster = self._await(orders)
        came = {order.machine.name: node for order, node in zip(orders, nodes, strict=True)}
        return Bought(with_nodes_that_came(plan, came), came, cluster)

    def _ask(self, placeholders: Sequence[PodSpec], number: int | None = None) -> None:
        """For the first so many of them (None: for all) that do not stand already."""
        settings, self._began = self._settings, self._clock.monotonic()
        request = request_for(placeholders, settings.run_id, self._clock.now() + settings.hold_seconds)
        try:
            self._market.ask(request, number)
        except ClusterError as error:
            raise PlanStoppedError(f"no machine could be asked for, and nothing was moved: {error}") from None

    def _await_fillers(self) -> None:
        """Until each node that was there, and has room for a whole machine's pods, is full."""
        while True:
            self._check_stop()
            try:
                self._renew()
                found = {item.node for item in self._market.asked()}
                missing = "; ".join(f"nothing stands on {name} yet" for name in self._fillers if name not in found)
            except ClusterError as error:
                missing = str(error)
            if not missing:
                return
            if self._clock.monotonic() - self._began >= FILLING_SECONDS:
                raise PlanStoppedError(
                    f"no machine was asked for, and nothing was moved: {', '.join(self._fillers)} must be "
                    "filled before, since nobody would make another, and no placeholder came to stand there within "
                    f"{FILLING_SECONDS:.0f} s ({missing})"
                )
            self._clock.sleep(PAUSE_SECONDS)

    @contextmanager
    def _withdrawing(self) -> Iterator[None]:
        """Whatever happens meanwhile, nothing that was asked for is left: the machines are kept for nobody then."""
        try:
            yield
        except BaseException:
            try:
                self._market.withdraw()
            except ClusterError as error:
                self._settings.progress(f"placeholders could not be taken back yet: {error}")
            raise
        try:
            self._market.withdraw()
        except ClusterError as error:
            raise PlanStoppedError(
                f"the machines came, and nothing was moved, since their placeholders could not be taken away: {error}"
            ) from None

    def _await_others(self) -> None:
        """Two runs that ask at once might take each other's machines. Raises PlanStoppedError."""
        ends_at = self._clock.monotonic() + 2 * self._settings.hold_seconds
        while standing := self._others():
            if self._clock.monotonic() >= ends_at:
                raise PlanStoppedError(
                    f"another run asks for machines ({', '.join(standing)}), and nothing was asked for or moved: "
                    "let it end first, or remove that with `rescheduler clean`"
                )
            self._check_stop()
            self._settings.progress("waiting for another run that asks for machines")
            self._clock.sleep(PAUSE_SECONDS)

    def _others(self) -> Sequence[str]:
        try:
            return self._market.of_others()
        except ClusterError as error:
            raise PlanStoppedError(f"no machine was asked for, and nothing was moved: {error}") from None

    def _await(self, orders: Sequence[MachineOrder]) -> tuple[Sequence[str], Cluster]:
        self._missing = "nothing has come"
        while True:
            self._check_stop()
            try:
                self._renew()
                found = self._look(orders)
            except ClusterError as error:
                found, self._missing = None, str(error)
            if found is not None:
                return found
            if self._clock.monotonic() - self._began >= self._settings.patience_seconds:
                raise PlanStoppedError(self._late(orders))
            self._clock.sleep(PAUSE_SECONDS)

    def _look(self, orders: Sequence[MachineOrder]) -> tuple[Sequence[str], Cluster] | None:
        """The nodes and a snapshot with them; None: not yet. Raises ClusterError, PlanStoppedError."""
        asked = self._market.asked()[len(self._fillers) :]
        for number, (order, item) in enumerate(zip(orders, asked, strict=True)):
            if not item.stands and number in self._seen:
                raise PlanStoppedError(
                    f"nothing was moved: somebody has taken away the placeholder of {told(order.machine)}"
                )
            if item.node in order.before:
                raise PlanStoppedError(
                    f"the placeholder that asked for {told(order.machine)} found room on {item.node}, which was there "
                    "before, so no machine was made and nothing was moved; plan again"
                )
            if item.stands:
                self._seen.add(number)
        nodes = [item.node for item in asked if item.node is not None]
        self._settings.progress("waiting for machines", len(nodes), len(orders))
        if len(nodes) < len(orders):
            late = [told(order.machine) for order, item in zip(orders, asked, strict=True) if item.node is None]
            self._missing = f"no node for {'; '.join(late)}"
            return None
        cluster = self._read()
        self._missing = not_as_promised(orders, nodes, cluster)
        return None if self._missing else (nodes, cluster)

    def _renew(self) -> None:
        """In time: half of what is left of it is for a server that is slow."""
        now, seconds = self._clock.monotonic(), self._settings.hold_seconds
        if now - self._renewed_at < seconds / 2:
            return
        if not self._market.renew(seconds):
            raise PlanStoppedError("somebody has taken away what asked for the machines, so nothing was moved")
        self._renewed_at = now

    def _check_stop(self) -> None:
        reason = self._settings.stopped()
        if reason is not None:
            raise PlanStoppedError(f"stopped: {reason}; nothing was moved")

    def _late(self, orders: Sequence[MachineOrder]) -> str:
        wanted = "; ".join(told(order.machine) for order in orders)
        return (
            f"the machines did not come within {self._settings.patience_seconds:.0f} s ({wanted}): {self._missing}. "
            "Nothing was moved, and nothing asks for them any more; one that comes late is empty, for its maker to sell"
        )
