"""Claims about the set-based path: the same records as the row-wise engine, or it declines."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck import set_records as module
from governance_pipeline.crosscheck import set_verdicts
from governance_pipeline.crosscheck.check_set import load_check_set
from governance_pipeline.crosscheck.guardian import judge
from governance_pipeline.crosscheck.record_sets import counts_of
from governance_pipeline.crosscheck.report import report_blocks
from governance_pipeline.crosscheck.run import run_checks
from governance_pipeline.crosscheck.set_plan import opened_set
from governance_pipeline.settings import Settings
from governance_pipeline.vocabulary import DataType

MONEY, WIDE = pa.decimal128(12, 2), pa.decimal128(18, 4)


LARGE = Settings(large_check_bytes=0)


def both(folder, declared, lines, data_type="integer", recompute="sum(l.v)", **more):
    """Return the batches of both ways, proved on all records, and whether SQL made the second."""
    pq.write_table(declared, folder / "d.parquet")
    pq.write_table(lines, folder / "l.parquet")
    extra = "".join(f", {name}: {value}" for name, value in more.items())
    (folder / "checks.yaml").write_text(
        "schema: govern/checks/v1\nsources:\n  d: {path: d.parquet, key: id, role: declared}\n"
        "  l: {path: l.parquet, key: id, role: components}\nchecks:\n"
        f"  - {{id: c, field: total, declared: d.total, recompute: '{recompute}', data_type: {data_type}, "
        f"epsilon_reason: 'it''s \"quoted\"', escalate_to: owner{extra}}}\n"
    )
    check_set = load_check_set(folder / "checks.yaml")
    sources = check_set.sources
    with opened_set(check_set.checks[0], sources["d"], sources["l"], check_set.policy, folder) as found:
        is_by_set = found is not None
    held = run_checks(check_set, proved_records=None)
    stored = run_checks(check_set, proved_records=None, spill=folder, settings=LARGE)
    return held, stored, is_by_set


def is_same(held, stored):
    """Tell whether both ways give the same records, proof, judgement and report."""
    assert list(stored.records["c"]) == list(held.records["c"])
    assert stored.proofs == held.proofs
    assert counts_of(stored.records["c"]) == counts_of(held.records["c"])
    judgements = [judge(batch) for batch in (held, stored)]
    assert judgements[0] == judgements[1]
    texts = [
        b"".join(report_blocks(batch, judgement)) for batch, judgement in zip((held, stored), judgements, strict=True)
    ]
    return texts[0] == texts[1]


def tables(declared, lines, total, part, key=None):
    key = pa.int64() if key is None else key
    return (
        pa.table({"id": pa.array([k for k, _ in declared], key), "total": pa.array([v for _, v in declared], total)}),
        pa.table({"id": pa.array([k for k, _ in lines], key), "v": pa.array([v for _, v in lines], part)}),
    )


KEYS = st.integers(0, 4)
CENTS = st.integers(-30000, 30000).map(lambda n: Decimal(n) / 100)
FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 0.1, 0.2, 0.3, 1e-7, 1e16, 1e300, 5e-324]),
    st.floats(-1e6, 1e6),
    st.integers(-1000, 1000).map(lambda n: n / 7),
)
KINDS = {
    DataType.INTEGER: (st.integers(-9, 9), pa.int64(), pa.int32()),
    DataType.CURRENCY: (CENTS, MONEY, WIDE),
    DataType.PERCENT: (CENTS, WIDE, MONEY),
    DataType.FLOAT: (FLOATS, pa.float64(), pa.float64()),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_both_ways_give_the_same_records(tmp_path, kind, data):
    values, total, part = KINDS[kind]
    rows = st.lists(st.tuples(KEYS, st.one_of(st.none(), values, values, values)), max_size=14)
    lines = data.draw(rows)
    declared = data.draw(rows) + [
        (k, sum(v for key, v in lines if key == k and v is not None)) for k in data.draw(st.sets(KEYS))
    ]
    if kind == DataType.FLOAT:
        declared = [(k, v if v is None else float(v)) for k, v in declared]
    recompute = data.draw(st.sampled_from(["sum(l.v)", "min(l.v)", "max(l.v)"]))
    held, stored, is_by_set = both(tmp_path, *tables(declared, lines, total, part), kind, recompute)
    assert is_by_set or kind == DataType.FLOAT  # floats may lie too far apart for 128 bits
    assert is_same(held, stored)


@pytest.mark.parametrize("parts", [1, 3])
def test_many_subjects_in_several_parts_give_the_same_records(tmp_path, monkeypatch, parts):
    monkeypatch.setattr(module, "PART_ROWS", 2000 // parts + 1)
    lines = [(n % 400, (n * n % 9973) / 7) for n in range(2000)]
    sums = [sum(v for k, v in lines[key::400]) + (key % 50 == 0) for key in range(400)]
    held, stored, is_by_set = both(tmp_path, *tables(list(enumerate(sums)), lines, pa.float64(), pa.float64()), "float")
    assert is_by_set
    assert is_same(held, stored)
    assert stored.records["c"].statuses() == {"match": 392, "mismatch": 8}
    assert stored.proofs["c"].records == 400


@pytest.mark.parametrize("recompute", ["count(*)", "count(l.v)", "count(l.*)"])
def test_counts_are_decided_by_sql_too(tmp_path, recompute):
    declared, lines = tables([(1, 2), (2, 1), (3, 0)], [(1, 5), (1, 6), (2, 7)], pa.int32(), pa.int8())
    if recompute == "count(l.*)":
        recompute = "count(*)"
    held, stored, is_by_set = both(tmp_path, declared, lines, "integer", recompute)
    assert is_by_set
    assert is_same(held, stored)


def test_hostile_subjects_have_the_same_ids(tmp_path):
    names = ["plain", 'quo"te', "back\\slash", "new\nline", "\x1f", "\x7f", "\u2028", "é", "'); DROP--", "a,b"]
    declared, lines = tables([(n, 1) for n in names], [(n, 1) for n in names], pa.int64(), pa.int64(), pa.string())
    held, stored, is_by_set = both(tmp_path, declared, lines)
    assert is_by_set
    assert is_same(held, stored)


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_equality_with_epsilon_is_a_match_and_one_digit_more_is_none(tmp_path, step):
    declared, lines = tables([(1, Decimal("10.0050") + Decimal(step) / 10000)], [(1, Decimal(10))], WIDE, MONEY)
    held, stored, is_by_set = both(tmp_path, declared, lines, "currency", epsilon='"0.005"')
    assert is_by_set
    assert is_same(held, stored)
    assert stored.records["c"].statuses() == {"mismatch" if step > 0 else "match": 1}


@pytest.mark.parametrize(
    ("total", "part", "data_type", "recompute"),
    [
        (pa.float64(), pa.int64(), "integer", "sum(l.v)"),
        (pa.int64(), pa.float64(), "integer", "sum(l.v)"),
        (pa.float32(), pa.float32(), "float", "sum(l.v)"),
        (pa.int64(), pa.int64(), "integer", "sum(l.v) + 1"),
        (pa.int64(), pa.int64(), "integer", "sum(l.v * 2)"),
        (pa.int64(), pa.int64(), "integer", "avg(l.v)"),
        (pa.int64(), pa.string(), "integer", "count(distinct l.v)"),
        (pa.int64(), pa.uint64(), "integer", "sum(l.v)"),
    ],
)
def test_what_sql_cannot_do_exactly_is_declined(tmp_path, total, part, data_type, recompute):
    value = "1" if part == pa.string() else 1
    held, stored, is_by_set = both(tmp_path, *tables([(1, 1)], [(1, value)], total, part), data_type, recompute)
    assert not is_by_set
    assert is_same(held, stored)


@pytest.mark.parametrize("key", [None, ""])
def test_a_row_without_a_key_concerns_every_subject_and_is_declined(tmp_path, key):
    declared, lines = tables([("a", 1)], [("a", 1), (key, 1)], pa.int64(), pa.int64(), pa.string())
    held, stored, is_by_set = both(tmp_path, declared, lines)
    assert not is_by_set
    assert is_same(held, stored)
    assert stored.records["c"].reasons() == {"components_incomplete": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_table_has_the_flag_and_the_numbers_of_every_record(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(set_verdicts, "PART_ROWS", 5)
    _, total, part = KINDS[kind]
    exact = kind != DataType.FLOAT
    step = 1 if kind == DataType.INTEGER else Decimal("0.01") if exact else 1e-6
    lines = [(n % 9, n if exact else n / 7) for n in range(40)] + [(9, None)]
    sums = {key: sum(v for k, v in lines if k == key and v is not None) for key in range(10)}
    declared = [(key, value + (key % 3) * step) for key, value in sums.items()]
    held, _, is_by_set = both(tmp_path, *tables([*declared, (8, 1), (77, None), (78, 1)], lines, total, part), kind)
    assert is_by_set
    check_set = held.check_set
    with opened_set(*check_set.checks, *map(check_set.sources.get, "dl"), check_set.policy, tmp_path) as records:
        rows = [row for batch in set_verdicts.verdicts(records) for row in batch.to_pylist()]

    def as_number(value):
        return None if value is None else Decimal(repr(value)) if isinstance(value, float) else Decimal(value)

    found = [
        (str(r["key"]), r["status"], r["reason_code"], *map(as_number, (r["declared"], r["computed"]))) for r in rows
    ]
    expected = [
        (
            r.subject_id,
            r.status.value,
            r.reason_code and r.reason_code.value,
            as_number(r.declared),
            as_number(r.computed),
        )
        for r in held.records["c"]
    ]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
