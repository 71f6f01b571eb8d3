"""Claims about the engine: which records exist, and that order, chunking and context change nothing."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.check import Check, NoComponents
from governance_pipeline.crosscheck.digest_text import canonical_array
from governance_pipeline.crosscheck.engine import RAW_TEXT_CHARACTERS, CheckRun, evaluate
from governance_pipeline.crosscheck.formula import parse_formula
from governance_pipeline.crosscheck.policy import shipped_epsilon_policy
from governance_pipeline.crosscheck.rows import MISSING, ComponentRow, DeclaredRow, Value
from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.strict.lexeme import Lexeme
from governance_pipeline.strict.numbers import exact_number
from governance_pipeline.vocabulary import DataType, RecordStatus, ValueKind

POLICY = shipped_epsilon_policy()
FILE = "f" * 64
LEXEMES = st.from_regex(r"-?(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


def check(recompute: str, data_type: DataType = DataType.CURRENCY, **changes) -> Check:
    parts = {
        "id": "c",
        "field": "total",
        "declared": "d.total",
        "formula": parse_formula(recompute, "p"),
        "data_type": data_type,
        "unit": None,
        "epsilon": None,
        "epsilon_reason": "a reason",
        "epsilon_relative": None,
        "epsilon_relative_reason": None,
        "no_components": NoComponents.UNVERIFIABLE,
        "no_components_reason": None,
        "escalate_to": "owner",
    }
    return Check(**{**parts, **changes})


def number(lexeme: str) -> Value:
    return Value(ValueKind.NUMBER, lexeme)


def declared(subject: str | None, value: Value, line: int | None = 1, **more) -> DeclaredRow:
    return DeclaredRow(subject, value, FILE, line, "/total", **more)


def part(line: int | None, source: str = "p", subject: str = "A", **values: Value) -> ComponentRow:
    return ComponentRow(subject, source, line, values)


def one(recompute: str, rows: list[ComponentRow], claim: Value | None = None, data_type=DataType.CURRENCY, **changes):
    claim = number("0") if claim is None else claim
    (record,) = evaluate(check(recompute, data_type, **changes), [declared("A", claim)], rows, policy=POLICY)
    return record


@pytest.mark.parametrize(
    ("kind", "raw"),
    [(ValueKind.TEXT, "5"), (ValueKind.BOOLEAN, "true"), (ValueKind.OBJECT, "object"), (ValueKind.ARRAY, "array")],
)
def test_what_is_no_number_is_never_turned_into_one(kind, raw):
    record = one("sum(p.x)", [part(1, x=number("5"))], Value(kind, raw))
    assert (record.declared, record.epsilon, record.delta, record.mismatch) == (None, None, None, None)
    assert (record.reason_code, record.declared_raw, record.computed) == ("declared_not_a_number", raw, "5")


def test_a_declared_text_is_cut_and_a_lexeme_is_not():
    text = one("count(*)", [], Value(ValueKind.TEXT, "x" * 300))
    assert text.declared_raw == "x" * RAW_TEXT_CHARACTERS
    assert one("count(*)", [], number("1" * 300)).declared_raw == "1" * 300


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            [MISSING, Value(ValueKind.TEXT, "x"), Value(ValueKind.NOT_FINITE, "NaN"), number("1e40")],
            "component_missing_value",
        ),
        ([Value(ValueKind.TEXT, "1"), Value(ValueKind.NOT_FINITE, "NaN"), number("1e40")], "component_not_a_number"),
        ([Value(ValueKind.NOT_FINITE, "NaN"), number("1e40")], "component_not_finite"),
        ([number("1e40")], "overflow"),
    ],
)
def test_the_worst_component_gives_the_reason_in_any_order_and_all_are_counted(values, reason):
    for rows in (values, values[::-1]):
        record = one("sum(p.x)", [part(i, x=value) for i, value in enumerate([number("1"), *rows], 1)])
        assert (record.reason_code, record.computed, record.components_count) == (reason, None, len(rows) + 1)


def test_an_absent_column_is_an_unknown_and_not_a_zero():
    assert one("sum(p.x)", [part(1, x=number("1")), part(2)]).reason_code == "component_missing_value"
    assert one("count(*) + count(p.x)", [part(1)]).reason_code == "component_missing_value"
    assert one("count(*)", [part(1)], number("1")).status is RecordStatus.MATCH


def test_any_kind_of_value_can_be_counted_and_a_column_that_is_added_up_too_must_be_a_number():
    rows = [
        part(1, x=Value(ValueKind.TEXT, "a")),
        part(2, x=Value(ValueKind.NOT_FINITE, "NaN")),
        part(3, x=number("1e99")),
    ]
    assert one("count(p.x)", rows).computed == "3"
    assert one("count(distinct p.x)", [*rows, part(4, x=Value(ValueKind.TEXT, "a"))]).computed == "3"
    assert one("count(p.x) + 0*sum(p.x)", rows).reason_code == "component_not_a_number"


def test_a_product_with_too_many_decimals_overflows_instead_of_being_rounded():
    tiny = number("0." + "0" * 19 + "1")
    assert one("sum(p.x * p.y)", [part(1, x=tiny, y=tiny)]).reason_code == "overflow"
    assert one("sum(p.x * p.y) / 1", [part(1, x=tiny, y=tiny)]).computed == "0"


def test_a_source_without_rows_is_missing_even_when_another_has_some():
    rows = [part(1, "q", x=number("2"))]
    assert one("sum(q.x) - sum(p.x)", rows).reason_code == "components_missing"
    zero = {"no_components": NoComponents.ZERO, "no_components_reason": "none is none"}
    assert one("sum(q.x) - sum(p.x)", rows, number("2"), **zero).status is RecordStatus.MATCH
    assert one("sum(q.x) - max(p.x)", rows, **zero).reason_code == "components_missing"


def test_zero_components_divided_by_none_are_unknown():
    zero = {"no_components": NoComponents.ZERO, "no_components_reason": "none is none"}
    assert one("sum(p.x) / count(*)", [], **zero).reason_code == "division_by_zero"


def test_a_quarantined_row_of_a_source_concerns_only_the_checks_that_read_it():
    rows = [part(1, x=number("2"))]
    for incomplete, reason in (({"p"}, "components_incomplete"), ({"q"}, None)):
        (record,) = evaluate(
            check("sum(p.x)"), [declared("A", number("2"))], rows, policy=POLICY, incomplete=frozenset(incomplete)
        )
        assert record.reason_code == reason


def test_a_quarantined_declared_row_and_an_undeclared_subject_are_records_too():
    rows = [part(1, subject="B", x=number("2"))]
    claims = [declared(None, MISSING, 7, is_quarantined=True), declared(None, MISSING, None, is_quarantined=True)]
    records = evaluate(check("sum(p.x)"), claims, rows, policy=POLICY, declared_file="e" * 64)
    found = [(r.subject_id, r.declared_pointer.line, r.reason_code, r.computed) for r in records]
    assert found == [
        ("B", None, "declared_missing", "2"),
        (None, 7, "declared_quarantined", None),
        (None, None, "declared_quarantined", None),
    ]
    assert records[0].declared_pointer == ("e" * 64, None, "/total")
    assert len(evaluate(check("sum(p.x)"), claims, rows, policy=POLICY, with_undeclared=False)) == 2


def test_a_record_names_its_round_and_never_a_time():
    (record,) = evaluate(check("count(*)"), [declared("A", number("1"))], [part(1)], policy=POLICY, round_id="r-1")
    assert (record.round_id, record.opened_at, record.overwritten) == ("r-1", None, False)


def test_the_json_of_a_record_holds_exact_numbers():
    document = one("sum(p.x)", [part(1, x=number("1e-20"))], number("0.10")).to_json()
    assert isinstance(document["delta"], Lexeme)
    assert document["delta"] == "0.09999999999999999999"
    assert document["declared_pointer"] == {"file": FILE, "line": 1, "pointer": "/total"}


@settings(deadline=None)
@given(st.lists(st.none() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8"))))
def test_the_text_of_a_digest_is_rfc_8785(items):
    assert canonical_array(items) == canonical_json(items)


def test_the_record_id_depends_on_the_place_and_not_on_the_value():
    first, second = (one("sum(p.x)", [part(1, x=number("1"))], number(text)) for text in ("1", "2"))
    assert first.record_id == second.record_id
    assert first.record_id == sha256_hex(canonical_json(["c", first.formula_digest, "A", FILE, 1, "/total"]))


def test_component_rows_fed_one_by_one_must_come_in_order():
    run = CheckRun(check("sum(p.x) + sum(q.x)"), POLICY)
    run.add(part(2, x=number("1")))
    run.add(part(1, "other", x=number("1")))
    with pytest.raises(ValueError, match="out of order"):
        run.add(part(1, x=number("1")))
    run.add(part(1, "q", x=number("1")))
    with pytest.raises(ValueError, match="out of order"):
        run.add(part(3, x=number("1")))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("AB"), LEXEMES), max_size=12), st.randoms(), st.integers(1, 40))
def test_a_sum_is_exact_in_any_order_and_under_any_context(parts, random, precision):
    rows = [part(i, subject=subject, x=number(text)) for i, (subject, text) in enumerate(parts, 1)]
    claims = [declared(subject, number("1.5"), i) for i, subject in enumerate("AB", 1)]
    records = evaluate(check("sum(p.x)"), claims, rows, policy=POLICY)
    for record in records:
        numbers = [Fraction(exact_number(text)) for subject, text in parts if subject == record.subject_id]
        assert (record.computed is None) == (not numbers)
        if record.computed is not None:
            assert Fraction(Decimal(record.computed)) == sum(numbers)
            assert record.mismatch is (abs(Fraction(3, 2) - sum(numbers)) > Fraction(1, 200))
    random.shuffle(rows)
    random.shuffle(claims)
    with localcontext(prec=precision):
        assert evaluate(check("sum(p.x)"), claims, rows, policy=POLICY) == records


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=12))
def test_floats_are_added_up_exactly_and_rounded_once(values):
    rows = [part(i, x=number(repr(value).replace("inf", "0"))) for i, value in enumerate(values, 1)]
    record = one("sum(p.x)", rows, data_type=DataType.FLOAT)
    assert float(record.computed) == math.fsum(values)
    mean = one("avg(p.x)", rows, data_type=DataType.FLOAT)
    assert float(mean.computed) == float(sum(map(Fraction, values)) / len(values))


def test_a_float_component_overflows_only_when_infinite():
    assert one("sum(p.x)", [part(1, x=number("1e400"))], data_type=DataType.FLOAT).reason_code == "overflow"
    assert one("sum(p.x)", [part(1, x=number("1e-400"))], data_type=DataType.FLOAT).computed == "0"
    two = [part(i, x=number("1.7e308")) for i in (1, 2)]
    assert one("sum(p.x)", two, data_type=DataType.FLOAT).reason_code == "overflow"
    assert Decimal(one("sum(p.x) - max(p.x)", two, data_type=DataType.FLOAT).computed) == Decimal("1.7e308")


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("pq"), st.none() | st.integers(1, 9), TEXTS, TEXTS), min_size=1, max_size=8))
def test_the_digest_of_components_is_that_of_the_specification(parts):
    rows = [
        part(line, source, a=Value(ValueKind.TEXT, a), b=Value(ValueKind.TEXT, b) if b else MISSING)
        for source, line, a, b in parts
    ]
    record = one('count(p.b) + count(p.a) + count(distinct q."a")', rows)
    lines = [
        canonical_json([row.source, row.line, *(row.values[name].raw for name in ("ab" if row.source == "p" else "a"))])
        for row in sorted(rows, key=lambda row: (row.source, row.line or 0))
    ]
    assert record.components_digest == sha256_hex(b"\n".join(lines))
    assert record.components_count == len(rows)
