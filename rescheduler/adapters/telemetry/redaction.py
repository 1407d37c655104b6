"""Takes credentials out of texts before anybody sees them: those that we send, and what looks like one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

Hide = Callable[[str], str]
"""A text without the secrets that somebody knows of."""
HIDDEN: Final = "***"
_HEADERS: Final = r"(?:proxy-)?authorization|(?:set-)?cookie|x-sf-token|dd-api-key|dd-application-key|x-auth-token"
_FIELDS: Final = (
    r"(?:x[-_])?api[-_]?key|(?:access|id|refresh|bearer|auth)[-_]?token|client[-_]?secret|password|passwd|token|secret"
)
_PATTERNS: Final = (
    # A header, printed in whatever way: all of its value.
    (re.compile(rf"((?:{_HEADERS})['\"]?\s*[=:,]\s*(?:b?['\"])?)[^'\"\r\n]+", re.IGNORECASE), rf"\1{HIDDEN}"),
    # The scheme of such a header and what follows it.
    (re.compile(r"\b([Bb]earer|BEARER|Basic|BASIC|ApiKey)\s+[-A-Za-z0-9._~+/=]{6,}"), rf"\1 {HIDDEN}"),
    # NAME=VALUE and NAME: VALUE, as in queries, forms and dictionaries that were printed.
    (
        re.compile(rf"\b((?:{_FIELDS})['\"]?\s*[=:]\s*(?:b?['\"])?)[^\s'\"&,;}})\]]{{4,}}", re.IGNORECASE),
        rf"\1{HIDDEN}",
    ),
    # USER:PASSWORD@ in an address.
    (re.compile(r"(://)[^/\s:@]{1,256}:[^/\s@]{1,1024}@"), rf"\1{HIDDEN}@"),
    # A JSON web token, wherever it stands.
    (re.compile(r"\beyJ[-A-Za-z0-9_]{8,}\.[-A-Za-z0-9_]{8,}(?:\.[-A-Za-z0-9_]*)?"), HIDDEN),
)


class Redaction:
    """Everything that a daemon tells goes through here. Safe to use from several threads."""

    def __init__(self, *hides: Hide) -> None:
        """``hides``: what takes out the secrets themselves; patterns catch what has their form besides."""
        self._hides = hides

    def add(self, hide: Hide) -> None:
        """One more who knows secrets (``Connection.without_credentials``, say)."""
        self._hides = (*self._hides, hide)

    def __call__(self, text: str) -> str:
        """The text without credentials."""
        for hide in self._hides:
            try:
                text = hide(text)
            except Exception as error:  # noqa: BLE001 - rather nothing is told than a secret
                return f"{HIDDEN} (not shown: its credentials could not be taken out, {type(error).__name__})"
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return text
