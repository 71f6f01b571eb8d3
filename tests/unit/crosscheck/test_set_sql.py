"""SQL rounds an exact sum of floats once: to the binary64 nearest to it."""

import random
from fractions import Fraction

import duckdb
import pytest

from governance_pipeline.crosscheck.set_sql import _nearest_double


def sums():
    """Return integers of every size up to 2^125, many of them halfway between two binary64 or next to it."""
    chance = random.Random(5)
    found = [0, 1, 2**53 + 1, 2**104 - 1, 2**104, 2**104 + 1, 2**105 - 1, 2**125 - 1]
    for bits in range(1, 126):
        found += [chance.getrandbits(bits) for _ in range(4)]
        if bits > 54:
            halfway = (1 << (bits - 1)) | (chance.getrandbits(52) << (bits - 53)) + (1 << (bits - 54))
            found += [halfway - 1, halfway, halfway + 1]
    return [number for size in found for number in (size, -size)]


@pytest.mark.parametrize("scale", [0, 62, 300, 900])
def test_an_exact_sum_becomes_the_binary64_nearest_to_it(scale):
    numbers = sums()
    with duckdb.connect() as session:
        session.execute("CREATE TABLE t AS SELECT unnest($1::HUGEINT[]) AS v", [numbers])
        rows = session.execute(f"SELECT v, {_nearest_double('v', scale)} FROM t").fetchall()
    assert len(rows) == len(numbers)
    assert [number for number, nearest in rows if nearest != float(Fraction(number, 2**scale))] == []
