"""Tasks in processes of this machine, by the standard library's executor."""

from __future__ import annotations

import os
import resource
import signal
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from rescheduler.batch.engine.tasks import MOST_RETRIES, Done, Engine, Work, attempt


class LocalProcesses(Engine):
    """``processes`` at once, each within ``memory_bytes``.

    The executor ends with any of its processes and does not say which task killed it. Those that were under way are
    then done again one by one, so that only the guilty one is counted.
    """

    def __init__(self, processes: int | None = None, memory_bytes: int | None = None) -> None:
        self._processes = processes or len(os.sched_getaffinity(0))
        self._memory = memory_bytes

    def run(self, work: Work, tasks: Mapping[str, bytes]) -> Iterator[Done]:
        """Do all tasks."""
        waiting, suspects = deque(tasks.items()), deque[tuple[str, bytes]]()
        deaths: dict[str, int] = {}
        while waiting or suspects:
            alone = bool(suspects)
            broken: list[tuple[str, bytes]] = []
            source = deque([suspects.popleft()]) if alone else waiting
            yield from self._until_broken(work, source, broken)
            for key, task in broken:
                deaths[key] = deaths.get(key, 0) + alone
                if deaths[key] > MOST_RETRIES:
                    yield Done(key, None, f"its process died {deaths[key]} times{self._limit}")
                else:
                    suspects.append((key, task))

    @property
    def _limit(self) -> str:
        return f" (limit of memory: {self._memory} bytes)" if self._memory else ""

    def _until_broken(
        self, work: Work, source: deque[tuple[str, bytes]], broken: list[tuple[str, bytes]]
    ) -> Iterator[Done]:
        """Results until all of ``source`` is done, or a process dies; what was under way then comes into ``broken``."""
        size = min(self._processes, len(source))
        pool = ProcessPoolExecutor(size, get_context("spawn"), _prepared, (self._memory,))
        running: dict[Future[Done], tuple[str, bytes]] = {}
        try:
            while (source or running) and not broken:
                while source and len(running) < size:
                    key, task = source.popleft()
                    try:
                        running[pool.submit(attempt, work, key, task)] = (key, task)
                    except BrokenProcessPool:
                        broken.append((key, task))
                        break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    one = running.pop(future)
                    if future.exception() is None:
                        yield future.result()
                    else:
                        broken.append(one)
            broken += running.values()
        except BaseException:
            for process in list(pool._processes.values()):  # a history may take hours: whoever interrupts does not wait
                process.kill()
            raise
        finally:
            pool.shutdown(wait=not broken, cancel_futures=True)


def _prepared(memory_bytes: int | None) -> None:
    """Leave Ctrl-C to the parent, its standard output to its answer, and keep within the limit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
