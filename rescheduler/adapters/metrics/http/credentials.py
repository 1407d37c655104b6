"""Credentials of a metrics provider: read from a file or a Secret when they are used, never shown."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from requests import PreparedRequest
from requests.auth import AuthBase

from rescheduler.extension_points import MetricsError, ReschedulerError
from rescheduler.model.printable import printable
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess

ReadSecret = Callable[[str], str]
"""Gives the text behind NAMESPACE/NAME/KEY; raises ReschedulerError."""

MOST_BYTES: Final = 65536
SECRET_SECONDS: Final = 60.0
"""How long a Secret's text is used before it is asked for again; files are read each time."""
_SHORTEST_HIDDEN: Final = 4


class SecretHeader(NamedTuple):
    """A header that carries a credential, such as X-SF-Token; ``prefix`` stands before it ("Token ")."""

    credential: Credential
    prefix: str = ""


class Secrets:
    """Reads credentials, and hides in other texts what it has read."""

    def __init__(
        self, read_secret: ReadSecret | None, folder: Path, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """``folder``: where relative files stand."""
        self._read_secret = read_secret
        self._folder = folder
        self._monotonic = monotonic
        self._kept: dict[str, tuple[float, str]] = {}
        self._seen: dict[str, None] = {}

    def text(self, credential: Credential) -> str:
        """The secret text without white space around it. Raises MetricsError, which says where but never what."""
        if credential.file is not None:
            return self._checked(_of_file(self._folder / credential.file), f"file {printable(credential.file, 200)}")
        name = credential.secret or ""
        kept = self._kept.get(name)
        if kept is None or self._monotonic() - kept[0] > SECRET_SECONDS:
            kept = self._kept[name] = (self._monotonic(), self._checked(self._of_cluster(name), f"Secret {name}"))
        return kept[1]

    def forget(self) -> None:
        """Ask the cluster anew at the next use."""
        self._kept.clear()

    def hidden(self, text: str) -> str:
        """The text with ``***`` for every secret that was ever read here."""
        for secret in sorted(self._seen, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def also_hide(self, text: str) -> None:
        """Hide this form of a secret, too."""
        if len(text) >= _SHORTEST_HIDDEN:
            self._seen[text] = None

    def _of_cluster(self, name: str) -> str:
        if self._read_secret is None:
            raise MetricsError(f"Secret {name} cannot be read: there is no cluster to ask; use a file")
        try:
            return self._read_secret(name)
        except ReschedulerError as error:
            raise MetricsError(f"Secret {name} cannot be read: {error}") from None

    def _checked(self, text: str, place: str) -> str:
        found = text.strip()
        if not found:
            raise MetricsError(f"the credential in {place} is empty")
        if not found.isprintable():
            raise MetricsError(f"the credential in {place} is no single line of text")
        self.also_hide(found)
        return found


class ProviderAuth(AuthBase):
    """Puts credentials into each request, read anew each time."""

    def __init__(self, access: HttpAccess, secrets: Secrets, headers: Mapping[str, SecretHeader]) -> None:
        """``headers``: credentials in headers of other names."""
        self._access = access
        self._secrets = secrets
        self._headers = headers

    @property
    def is_empty(self) -> bool:
        """Whether no credential is sent."""
        return not self._headers and self._access.basic_auth is None and self._access.bearer_token is None

    def values(self) -> dict[str, str]:
        """Headers to send. Raises MetricsError."""
        found = {name: one.prefix + self._secrets.text(one.credential) for name, one in self._headers.items()}
        basic, token = self._access.basic_auth, self._access.bearer_token
        if token is not None:
            found["Authorization"] = f"Bearer {self._secrets.text(token)}"
        if basic is not None:
            pair = f"{basic.username}:{self._secrets.text(basic.password)}"
            encoded = base64.b64encode(pair.encode()).decode()
            self._secrets.also_hide(encoded)
            found["Authorization"] = f"Basic {encoded}"
        return found

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """The request with its credentials. Raises MetricsError."""
        for name, value in self.values().items():
            if not value.isascii():
                raise MetricsError(f"the credential for the header {name} holds characters that no header can carry")
            request.headers[name] = value
        return request


def _of_file(path: Path) -> str:
    shown = printable(str(path), 200)
    try:
        if not path.is_file():  # opening a pipe would wait for ever
            raise MetricsError(f"credential file {shown} is missing, or no file")
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable name"
        raise MetricsError(f"credential file {shown} cannot be read: {reason}") from None
    if len(content) > MOST_BYTES:
        raise MetricsError(f"credential file {shown} is longer than {MOST_BYTES} bytes; name a file that holds a token")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise MetricsError(f"credential file {shown} is not UTF-8 text") from None
