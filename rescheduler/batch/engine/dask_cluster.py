"""Tasks on a Dask cluster, of which nothing is asked but to do one function at a time."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rescheduler import __version__
from rescheduler.batch.engine.tasks import MOST_RETRIES, Done, Engine, EngineError, Work, attempt
from rescheduler.model.printable import in_one_line

CONNECT_SECONDS: Final = 20.0
GONE_SECONDS: Final = 30.0
"""For so long a scheduler that was lost, or workers of which none is left, are waited for."""
_LOOK_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.002
_TASKS_OF_A_WORKER: Final = 3
ADDRESS_VARIABLE: Final = "DASK_SCHEDULER_ADDRESS"


def version_here() -> str:
    """Asked of each worker."""
    return __version__


class DaskCluster(Engine):
    """The cluster of the scheduler at ``address``.

    A result is fetched as soon as it is there, since it would be lost with its worker, and few tasks are under way at
    once. Only workers of this version get any; others may join at any time, and are asked first.
    """

    def __init__(self, address: str | None = None) -> None:
        """Raises EngineError without Dask or without an address."""
        self.address = address or os.environ.get(ADDRESS_VARIABLE, "")
        if not self.address:
            raise EngineError(f"--engine dask: no scheduler; give --scheduler ADDRESS, or set {ADDRESS_VARIABLE}")
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise EngineError(f"--engine dask: {error}; pip install 'kube-rescheduler[dask]'") from error

    def run(self, work: Work, tasks: Mapping[str, bytes]) -> Iterator[Done]:
        """Do all tasks. Raises EngineError where the scheduler is out of reach or no worker is of this version."""
        import dask
        import distributed

        connect: Any = distributed.Client
        quiet = {"distributed.comm.timeouts.connect": f"{CONNECT_SECONDS:g}s", "distributed.comm.retry.count": 0}
        with dask.config.set(quiet):
            try:
                client: Any = connect(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
            except (OSError, ValueError) as error:
                raise self._gone(error) from error
            try:
                yield from _Run(self, client, work, tasks).results()
            finally:
                client.close(timeout=2)

    def _gone(self, error: object = "") -> EngineError:
        why = f" ({in_one_line(error)[:200]})" if str(error) else ""
        return EngineError(
            f"the Dask scheduler at {self.address} is out of reach{why}; with --resume FILE what is done already is "
            "kept, and the same command line goes on"
        )


class _Run:
    """One call: what waits, what is under way, and who may do it."""

    def __init__(self, engine: DaskCluster, client: Any, work: Work, tasks: Mapping[str, bytes]) -> None:
        self._engine, self._client, self._work, self._tasks = engine, client, work, tasks
        self._waiting = deque(tasks)
        self._running: dict[Any, tuple[str, tuple[str, ...]]] = {}
        self._deaths: dict[str, int] = {}
        self._versions: dict[str, str] = {}
        self._looked_at = self._had_worker_at = time.monotonic()
        self._good: tuple[str, ...] = ()

    def results(self) -> Iterator[Done]:
        """Results as they come."""
        self._look()
        while self._waiting or self._running:
            self._submit()
            for future, result in self._fetched(self._ended()):
                found = self._taken(future, result)
                if found is not None:
                    yield found
            if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
                self._look()

    def _submit(self) -> None:
        room = _TASKS_OF_A_WORKER * len(self._good) - len(self._running)
        keys = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
        if keys:
            texts = [self._tasks[key] for key in keys]
            futures = self._client.map(
                attempt, [self._work] * len(keys), keys, texts, pure=False, workers=list(self._good), retries=0
            )
            for future, key in zip(futures, keys, strict=True):
                self._running[future] = (key, self._good)

    def _ended(self) -> list[Any]:
        """Futures that have ended, after a wait of at most a moment."""
        until = time.monotonic() + _LOOK_SECONDS
        while time.monotonic() < until:
            found = [future for future in self._running if future.status != "pending"]
            if found or not self._running:
                return found
            time.sleep(_POLL_SECONDS)
        return []

    def _fetched(self, ended: list[Any]) -> list[tuple[Any, Any]]:
        """Each with its result, or with the exception that it ended by; all are fetched at once."""
        if any(future.status in ("cancelled", "lost") for future in ended):
            raise self._engine._gone()
        fine = [future for future in ended if future.status == "finished"]
        try:
            found = dict(zip(fine, self._client.gather(fine), strict=True)) if fine else {}
        except Exception as error:  # a result is lost with its worker
            if self._client.status != "running":
                raise self._engine._gone(error) from error
            found = dict.fromkeys(fine, error)
        return [(future, found.get(future)) for future in ended]

    def _taken(self, future: Any, result: Any) -> Done | None:
        """The result of a future that has ended; None where the task has to be done again."""
        key, _ = self._running.pop(future)
        if isinstance(result, Done):
            return result
        error = result
        if error is None:
            try:
                error = future.exception(timeout=CONNECT_SECONDS)
            except Exception as failed:  # noqa: BLE001
                error = failed
        if self._client.status != "running":
            raise self._engine._gone(error)
        return self._again(key, error)

    def _again(self, key: str, error: object) -> Done | None:
        self._deaths[key] = self._deaths.get(key, 0) + 1
        if type(error).__name__ == "KilledWorker" or self._deaths[key] > MOST_RETRIES:
            return Done(key, None, f"its workers died: {in_one_line(error)[:300]}")
        self._waiting.append(key)
        return None

    def _look(self) -> None:
        """Who is there by now. Raises EngineError where the scheduler is gone, or nobody of this version is left."""
        self._looked_at = time.monotonic()
        try:
            there = set(self._client.scheduler_info(n_workers=-1)["workers"])
            self._ask(there - set(self._versions))
        except Exception as error:
            raise self._engine._gone(error) from error
        if self._client.status != "running":
            raise self._engine._gone()
        good = tuple(sorted(name for name in there if self._versions.get(name) == __version__))
        if good != self._good:
            self._good = good
            self._call_back()
        if good:
            self._had_worker_at = self._looked_at
        elif self._looked_at - self._had_worker_at > (0 if there else GONE_SECONDS):
            raise EngineError(self._nobody(there))

    def _ask(self, new: set[str]) -> None:
        if not new:
            return
        answers = self._client.run(version_here, workers=sorted(new), on_error="return")
        for name in new:
            answer = answers.get(name)
            if isinstance(answer, str):
                self._versions[name] = answer
            elif isinstance(answer, ImportError):
                self._versions[name] = "none installed"

    def _call_back(self) -> None:
        """Tasks that were meant for workers of which none is left are given to others."""
        for future in list(self._running):
            key, meant_for = self._running[future]
            if future.status == "pending" and not set(meant_for).intersection(self._good):
                del self._running[future]
                future.cancel()
                self._waiting.appendleft(key)

    def _nobody(self, there: set[str]) -> str:
        if not there:
            return f"the Dask scheduler at {self._engine.address} has no workers"
        theirs = ", ".join(sorted({self._versions.get(name, "unknown") for name in there}))
        where = f"the Dask scheduler at {self._engine.address}"
        return f"no worker of {where} has kube-rescheduler {__version__}; found: {theirs}"
