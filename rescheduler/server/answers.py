"""Answers of GET /watcher as bytes, encoded once for each record rather than for each request."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from rescheduler.server.composing import compose, window_of
from rescheduler.server.record import Record


class Form(NamedTuple):
    """What a client asks for: a window in seconds (None: the default), pods, every statistic."""

    window: float | None = None
    has_pods: bool = False
    has_all: bool = False

    @property
    def is_prepared(self) -> bool:
        """Whether this is what most clients ask for."""
        return self == Form()


class LoadAnswers:
    """Keeps the encoded documents of the newest record; used by the server's and the watcher's threads at once."""

    def __init__(self) -> None:
        self._kept: tuple[Record | None, dict[Form, bytes | None]] = (None, {})
        self._encoder = msgspec.json.Encoder()

    def prepare(self, record: Record | None) -> None:
        """Encode what most clients ask for, so that none of them waits for it."""
        if record is not None:
            self.of_all(record, Form())

    def of_all(self, record: Record, form: Form) -> bytes | None:
        """The document of all nodes; None if no node is believed over this window."""
        window = window_of(record, form.window)
        if window is None:
            return None
        if self._kept[0] is not record:
            self._kept = (record, {})
        answers, key = self._kept[1], form._replace(window=window)
        if key not in answers:
            answers[key] = self._encoded(record, key, window, None)
        return answers[key]

    def of_node(self, record: Record, form: Form, node: str) -> bytes | None:
        """The document of one node; None if it is not believed."""
        window = window_of(record, form.window)
        return None if window is None else self._encoded(record, form, window, node)

    def _encoded(self, record: Record, form: Form, window: float, node: str | None) -> bytes | None:
        document = compose(record, window, node=node, has_pods=form.has_pods, has_all=form.has_all)
        return None if document is None else self._encoder.encode(document)
