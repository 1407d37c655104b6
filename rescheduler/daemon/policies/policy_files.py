"""Watches a policy's files by their content: what is half written, gone or wrong is told, and changes nothing."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rescheduler.daemon.policies.with_descheduler import descheduler_files
from rescheduler.extension_points import Clock, ClusterError, ReschedulerError
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.reading.named_files import named_files, policy_id

SETTLE_SECONDS: Final = 2.0
"""A content counts once it has stood for so long: an editor may still be writing, a mounted folder being swapped."""
FIRST_TRIES: Final = 3
MOST_BYTES: Final = 8 * 1024 * 1024


class PolicyReading(NamedTuple):
    """A policy that can be used. ``contents``: of the files that it names."""

    policy: Policy
    policy_id: str
    contents: Mapping[str, bytes]


class FileProblem(NamedTuple):
    """Why what stands in the files now cannot be used."""

    text: str


class PolicyFiles:
    """The files of one policy, and those that it names. Only their content counts, read anew each time.

    So a mounted ConfigMap, whose files are symbolic links that all change at once, needs nothing of its own. ``load``
    reads and judges them; it raises PolicyError or ReschedulerError.
    """

    def __init__(self, files: Sequence[str], load: Callable[[Sequence[str]], Policy], clock: Clock) -> None:
        self._files = tuple(files)
        self._load = load
        self._clock = clock
        self._named: tuple[str, ...] = ()
        self._settled = ""
        self._pending = ""
        self._pending_since = 0.0
        self._told = ""

    def first(self) -> PolicyReading:
        """What stands there at the start. Raises as ``load``."""
        for _ in range(FIRST_TRIES):
            before = self._digest(())
            reading = self._read()
            if self._digest(()) == before:
                break
        self._settled = self._digest()
        return reading

    def poll(self, *, at_once: bool = False) -> PolicyReading | FileProblem | None:
        """What the files say now; None: nothing that was not told before. ``at_once``: somebody says they are whole."""
        digest, now = self._digest(), self._clock.monotonic()
        if digest == self._settled:
            self._pending = ""
            return None
        if digest != self._pending:
            self._pending, self._pending_since = digest, now
        if not at_once and now - self._pending_since < SETTLE_SECONDS:
            return None
        return self._judge(digest)

    def look_again(self) -> None:
        """Judge once more what stands there, when it has settled."""
        self._settled = self._pending = ""

    def _judge(self, digest: str) -> PolicyReading | FileProblem | None:
        known = self._named
        try:
            reading = self._read()
        except ClusterError as error:  # not the files' fault: asked again, told once
            self._pending_since = self._clock.monotonic()
            return self._problem(str(error))
        except (PolicyError, ReschedulerError) as error:
            if self._digest() != digest:
                return None  # changed while it was read: looked at again
            self._settled = digest
            return self._problem(str(error))
        if self._digest(known) != digest:
            return None
        self._settled, self._told = self._digest(), ""
        return reading

    def _problem(self, text: str) -> FileProblem | None:
        if text == self._told:
            return None
        self._told = text
        return FileProblem(text)

    def _read(self) -> PolicyReading:
        """Raises as ``load``, and ClusterError never for the files that a policy names: ``load`` has read them."""
        policy = self._load(self._files)
        self._named = (*named_files(policy), *descheduler_files(self._files))
        contents = {name: _content(name) for name in self._named}
        return PolicyReading(policy, policy_id(policy, contents), contents)

    def _digest(self, named: Iterable[str] | None = None) -> str:
        digest = hashlib.sha256()
        for file in (*self._files, *(self._named if named is None else named)):
            digest.update(hashlib.sha256(_content(file)).digest())
        return digest.hexdigest()


def _content(file: str) -> bytes:
    """The file's bytes, as far as anybody reads them; of what cannot be read the reason."""
    path = Path(file)
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind != stat.S_IFREG:  # a pipe would be emptied, or waited for
            return f"\0kind {kind}".encode()
        with path.open("rb") as stream:
            return stream.read(MOST_BYTES)
    except (OSError, ValueError) as error:
        return f"\0{type(error).__name__}".encode()
