"""Claims about digests made of a sorted stream: those of the texts of each subject, wherever a batch ends."""

from __future__ import annotations

import hashlib
from itertools import groupby

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.set_digests import digest_table

ROWS = st.lists(st.tuples(st.integers(0, 4), st.text("aé\x00", max_size=3)), max_size=20)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, size=st.integers(1, 7), is_text=st.booleans())
def test_each_subject_has_the_digest_of_its_joined_rows(rows, size, is_text):
    rows = sorted(rows, key=lambda row: row[0])
    keys = [str(key) if is_text else key for key, _ in rows]
    table = pa.table(
        {"key": pa.array(keys, pa.string() if is_text else pa.int64()), "text": [f"\n{t}" for _, t in rows]}
    )
    found = digest_table(table.to_batches(max_chunksize=size))
    texts = zip(keys, (text for _, text in rows), strict=True)
    expected = {
        key: hashlib.sha256("\n".join(text for _, text in group).encode()).hexdigest()
        for key, group in groupby(texts, key=lambda row: row[0])
    }
    assert (found is None) == (not rows)
    assert ({} if found is None else dict(zip(*found.to_pydict().values(), strict=True))) == expected


def test_no_rows_have_no_digests():
    assert digest_table([]) is None
