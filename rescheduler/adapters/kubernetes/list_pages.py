"""The head of a page of a list: its version, and where the next page is."""

from __future__ import annotations

import msgspec

from rescheduler.extension_points import ClusterError


class _ListMeta(msgspec.Struct, gc=False):
    continue_: str | None = msgspec.field(name="continue", default=None)
    resource_version: str | None = msgspec.field(name="resourceVersion", default=None)


class _ListHead(msgspec.Struct, gc=False):
    metadata: _ListMeta | None = None


_LIST_HEAD = msgspec.json.Decoder(_ListHead)  # made here and not by the threads that read, see ``decoder_of``


def continue_token(page: bytes) -> str | None:
    """The token for the page after this one; None on the last page. Raises ClusterError if this is no list."""
    return _list_meta(page).continue_


def list_version(page: bytes) -> str:
    """The version that all pages of a list have in common; "" where none is told. Raises ClusterError as above."""
    return _list_meta(page).resource_version or ""


def _list_meta(page: bytes) -> _ListMeta:
    """The API server writes ``metadata`` before ``items``, so the head of the page is enough in practice."""
    end = page.find(b'"items"', 0, 4096)
    head = page[:end].rstrip().removesuffix(b",") + b"}" if end > 0 else b""
    for text in (head, page):
        try:
            found = _LIST_HEAD.decode(text).metadata
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if found is not None or text is page:
            return found or _ListMeta()
    raise ClusterError("the API server's list is not valid JSON; was the answer cut off on its way?")
