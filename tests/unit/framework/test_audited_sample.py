"""An audited sample is counted from its rows; a sample that shows nothing is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.errors import FaultyFileError, UnreadableError
from governance_pipeline.framework.audited_sample import Z, error_rate, read_sample


def written(tmp_path, rows, head="item,given,audited\n"):
    path = tmp_path / "sample.csv"
    path.write_text(head + "".join(f"{','.join(row)}\n" for row in rows))
    return path


def items(wrong=0, of=40):
    return [(f"i{n}", "a", "b" if n < wrong else "a") for n in range(of)]


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (items(of=29), "too_few"),
        ([*items(), ("i0", "a", "a")], "twice"),
        ([*items(), ("x", "a", "")], "blank"),
        ([*items(), ("x", "a")], "blank"),
        ([*items(), ("x", "a", "a", "a")], "blank"),
        ([*items(), ("", "a", "a")], "blank"),
    ],
)
def test_a_sample_that_is_small_or_not_whole_is_refused(tmp_path, rows, code):
    with pytest.raises(FaultyFileError, match=code):
        read_sample(written(tmp_path, rows))


def test_other_columns_no_utf8_and_no_file_are_refused(tmp_path):
    with pytest.raises(FaultyFileError, match="columns"):
        read_sample(written(tmp_path, items(), head="item,audited,given\n"))
    (tmp_path / "bytes.csv").write_bytes(b"item,given,audited\n\xff,a,a\n")
    with pytest.raises(UnreadableError, match="UTF-8"):
        read_sample(tmp_path / "bytes.csv")
    with pytest.raises(UnreadableError):
        read_sample(tmp_path / "none.csv")


def test_errors_are_counted_from_the_rows(tmp_path):
    sample = read_sample(written(tmp_path, items(wrong=4)))
    assert (sample.size, sample.errors) == (40, 4)
    assert sample.rate == ("0.100000", "0.039580", "0.230518")


@given(st.integers(1, 5000).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))))
def test_the_interval_holds_the_rate_and_stays_within_its_bounds(counts):
    value, low, high = map(float, error_rate(*counts))
    assert 0 <= low <= value <= high <= 1
    for limit in (low, high):  # Wilson's limits are the roots of (p - x)^2 = z^2 x (1 - x) / n
        assert abs((value - limit) ** 2 - Z * Z * limit * (1 - limit) / counts[1]) < 1e-4
