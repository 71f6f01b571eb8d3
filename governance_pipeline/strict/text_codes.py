r"""Numbers that stand for texts, so that texts are told apart by all of their characters.

What belongs here: the one way texts become codes before rows are sorted, grouped or compared by them. What does not:
what is done with the codes. The hash table pandas 2 uses for `factorize`, `duplicated`, `drop_duplicates`, `groupby`
and sorting by several columns ends a text at its first NUL, so ``a`` and ``a\x00b`` would be one run, one path or one
key; a log may hold such a text as ``\u0000``. Arrow compares whole texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

Codes = npt.NDArray[np.int64]


def text_codes(values: pd.Series | npt.NDArray[Any]) -> tuple[Codes, list[str]]:
    """Give a code for each text, and the distinct texts.

    Args:
        values: texts UTF-8 can store; None or NA where there is none.

    Returns:
        One code per value: the place of its text in the second list, which is in the order of code points; -1 where
        there is none. Equal codes are equal texts, and codes sort as their texts do.
    """
    if isinstance(values, pd.Series) and values.dtype == "string[python]":
        values = values.to_numpy(dtype=object)  # twice as fast: pandas would look for nulls first, as Arrow does again
    encoded = pa.array(values, type=pa.large_string(), from_pandas=True).dictionary_encode()
    texts: list[str] = encoded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    place = np.full(len(texts) + 1, -1, dtype=np.int64)  # the last one is for the index -1
    place[order] = np.arange(len(texts))
    return place[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)], [texts[at] for at in order]
