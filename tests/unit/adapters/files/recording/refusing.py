"""How tests look at a recording that is refused."""

from __future__ import annotations

import pytest

from rescheduler.extension_points import SnapshotError
from tests.unit.adapters.api_objects import list_of, node_object, pod_object, read

GOOD = list_of(node_object(), pod_object())


def refused(data: object) -> str:
    """The one paragraph that a recording is refused with."""
    with pytest.raises(SnapshotError) as caught:
        read(data)
    text = str(caught.value)
    assert text.startswith("standard input: ")
    assert text.isprintable()
    return text
