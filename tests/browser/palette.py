"""Pictures in a third of the bytes: as PNG with the 256 colours that are the most frequent in them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_COLOURS: Final = 256
_TRUE, _INDEXED = 2, 3
Pixels = np.ndarray[Any, np.dtype[Any]]


def with_palette(picture: bytes) -> bytes:
    """A picture of true colours with a palette: each colour that is not among the most frequent as the nearest one."""
    shown = pixels(picture)
    packed = shown.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1], np.int32)
    found, which, counts = np.unique(packed.ravel(), return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1).astype(np.uint8)
    palette = colours[np.argsort(-counts, kind="stable")[:_COLOURS]]
    apart = colours[:, None, :].astype(np.int32) - palette[None]
    nearest = np.argmin((apart**2).sum(axis=2), axis=1).astype(np.uint8)
    height, width = shown.shape[:2]
    rows = np.zeros((height, width + 1), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = nearest[which].reshape(height, width)
    head = struct.pack(">IIBBBBB", width, height, 8, _INDEXED, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)


def pixels(picture: bytes) -> Pixels:
    """Rows of red, green and blue, of a PNG as Chromium makes them: true colours, or a palette as above."""
    chunks = list(_chunks(picture))
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, interlace) == (8, 0), "8 bits a value and no interlacing are all that is read"
    assert kind in (_TRUE, _INDEXED), f"colours of type {kind} are not read"
    data = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    size = 3 if kind == _TRUE else 1
    rows = np.frombuffer(data, np.uint8).reshape(height, 1 + width * size)
    found = np.zeros((height, width * size), np.uint8)
    above = np.zeros(width * size, np.uint8)
    for number, row in enumerate(rows):
        above = found[number] = _unfiltered(int(row[0]), row[1:], above, size)
    if kind == _TRUE:
        return found.reshape(height, width, 3)
    palette = np.frombuffer(next(body for name, body in chunks if name == b"PLTE"), np.uint8).reshape(-1, 3)
    return palette[found]


def _unfiltered(kind: int, row: Pixels, above: Pixels, size: int) -> Pixels:
    """A row without its filter (PNG, section 9): what was taken from its neighbours is added again."""
    if kind == 0:
        return row
    if kind == 2:
        return row + above
    found, over = [0] * size + row.tolist(), [0] * size + above.tolist()
    for place in range(size, len(found)):
        left, up, corner = found[place - size], over[place], over[place - size]
        near = {1: left, 3: (left + up) // 2}.get(kind)
        found[place] = (found[place] + (_paeth(left, up, corner) if near is None else near)) & 255
    return np.array(found[size:], np.uint8)


def _paeth(left: int, up: int, corner: int) -> int:
    """The neighbour that is nearest to left + up - corner."""
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert picture.startswith(_SIGNATURE)
    place = len(_SIGNATURE)
    while place < len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        yield picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        place += 12 + length
