"""Resolving the escapes of many JSON texts at once.

What belongs here: texts as they are written between their quotes, their escapes known to be legal, turned into what
they say. What does not: deciding that they are legal (`flat_records`). Escapes of one letter are resolved without
looking at a text by itself; texts with an escape by code are given to the JSON parser.
"""

from __future__ import annotations

import json
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from governance_pipeline.ingest.flat_bytes import BACKSLASH, Bytes, Flags, Places, are_leading

_CODE: Final = ord("u")
_MEANT: Final = np.arange(256, dtype=np.uint8)
_MEANT[list(b"bfnrt")] = list(b"\b\f\n\r\t")


def has_escapes(written: pa.StringArray) -> bool:
    """Tell whether there is an escape in any of these texts."""
    data = written.buffers()[2]
    return data is not None and bool((np.frombuffer(data, np.uint8) == BACKSLASH).any())


def resolved(written: pa.StringArray) -> pa.StringArray:
    """Give what texts say; the escapes of all are legal. Null stays null."""
    data = np.frombuffer(written.buffers()[2], np.uint8)
    bounds = np.frombuffer(written.buffers()[1], np.int32)[written.offset : written.offset + len(written) + 1]
    # A text never ends in the middle of an escape, so backslashes that run on into the next one are counted right.
    slashes = (np.flatnonzero(data[bounds[0] : bounds[-1]] == BACKSLASH) + bounds[0]).astype(np.int32)
    slashes = slashes[are_leading(slashes)]
    codes = slashes[data[slashes + 1] == _CODE]
    said = _by_letter(data, bounds, slashes, pc.is_valid(written).to_numpy(zero_copy_only=False))
    if not len(codes):
        return said
    has_code = np.zeros(len(written), np.bool_)
    has_code[np.searchsorted(bounds, codes, side="right") - 1] = True
    mask = pa.array(has_code)
    return pc.replace_with_mask(said, mask, pa.array(_parsed(written.filter(mask)), pa.string()))


def _by_letter(data: Bytes, bounds: Places, slashes: Places, is_valid: Flags) -> pa.StringArray:
    """Leave out each backslash and put what is meant for the letter behind it."""
    meant = data.copy()
    meant[slashes + 1] = _MEANT[data[slashes + 1]]
    edges = np.empty(2 * len(slashes) + 2, np.int32)
    edges[0], edges[-1] = bounds[0], bounds[-1]
    edges[1:-1:2], edges[2:-1:2] = slashes, slashes + 1
    pieces = pa.BinaryArray.from_buffers(pa.binary(), len(edges) - 1, [None, pa.py_buffer(edges), pa.py_buffer(meant)])
    kept = pieces.take(pa.array(np.arange(0, len(edges), 2, dtype=np.int32)))
    moved = (bounds - bounds[0] - np.searchsorted(slashes, bounds)).astype(np.int32)
    validity = None if is_valid.all() else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(moved), kept.buffers()[2], validity)


def _parsed(written: pa.StringArray) -> list[str]:
    joined = pc.binary_join(pa.ListArray.from_arrays([0, len(written)], written), '","')[0].as_py()
    found: list[str] = json.loads(f'["{joined}"]')
    return found
