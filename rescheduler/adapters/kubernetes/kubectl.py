"""What kubectl does for a page in a browser: a way to the daemon's port, and tokens that last ten minutes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.printable import printable

TOKEN_SECONDS: Final = 600.0
"""The shortest that an API server gives."""
RENEW_SECONDS: Final = 120.0
_ANSWER_SECONDS: Final = 30.0
_FORWARDING: Final = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+) ->")


def kubectl(kubeconfig: str | None, context: str | None) -> list[str]:
    """The beginning of a command line for this cluster."""
    found = ["kubectl"]
    found += ["--kubeconfig", kubeconfig] if kubeconfig else []
    return found + (["--context", context] if context else [])


@contextmanager
def forwarded(command: Sequence[str], namespace: str, target: str, port: int) -> Iterator[str]:
    """The address on loopback that leads to a port of ``target``, until the block ends. Raises ClusterError."""
    line = [*command, "-n", namespace, "port-forward", target, f":{port}", "--address", "127.0.0.1"]
    try:
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - no shell
    except OSError as error:
        raise ClusterError(f"kubectl cannot be run ({error.strerror}); install it, or name --server") from None
    try:
        yield f"http://127.0.0.1:{_port_of(process)}"
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _port_of(process: subprocess.Popen[str]) -> str:
    """The free port that kubectl has taken; it ends by itself where it cannot."""
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        found = _FORWARDING.match(line)
        if found is not None:
            return found.group(1)
        said += line
    raise ClusterError(f"kubectl port-forward: {printable(said.strip() or 'it ended', 400)}")


class AccountTokens:
    """Tokens of a service account for one audience, each used until it is about to end."""

    def __init__(self, command: Sequence[str], namespace: str, account: str, audience: str, clock: Clock) -> None:
        self._line = [*command, "-n", namespace, "create", "token", account, "--audience", audience]
        self._line += ["--duration", f"{TOKEN_SECONDS:.0f}s"]
        self._clock = clock
        self._token, self._good_until = "", 0.0

    def __call__(self) -> str:
        """A token that is good for two minutes at least. Raises ClusterError."""
        if not self._token or self._clock.monotonic() >= self._good_until:
            asked_at = self._clock.monotonic()
            self._token = answered(self._line)
            self._good_until = asked_at + TOKEN_SECONDS - RENEW_SECONDS
        return self._token


def token_file(name: str) -> Callable[[], str]:
    """Tokens of a file, which is read anew each time; the calls raise ClusterError."""

    def read() -> str:
        try:
            with Path(name).open(encoding="ascii") as stream:
                return stream.read(65536).strip()
        except (OSError, UnicodeError) as error:
            raise ClusterError(f"{printable(name, 200)}: cannot be read as a token: {error}") from None

    return read


def answered(line: Sequence[str]) -> str:
    """What a command of kubectl says. Raises ClusterError with its own words."""
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"kubectl cannot be run: {printable(str(error), 200)}") from None
    if done.returncode:
        raise ClusterError(f"kubectl: {printable(done.stderr.strip(), 400)}")
    return done.stdout.strip()
