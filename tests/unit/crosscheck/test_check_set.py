"""Claims about check files: what is refused at load, with which code, on which line."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance_pipeline.crosscheck.check import NoComponents, Role
from governance_pipeline.crosscheck.check_set import load_check_set, parse_checks
from governance_pipeline.crosscheck.check_text import MAX_BYTES
from governance_pipeline.crosscheck.source import Source
from governance_pipeline.errors import CheckSetError, UsageError
from governance_pipeline.vocabulary import DataType

LOAD_ERRORS = Path(__file__).parent / "cases" / "load_errors"
EXPECTED = json.loads((LOAD_ERRORS / "expected.json").read_text("utf-8"))

GOOD = """\
schema: govern/checks/v1
sources:
  invoices: {path: invoices.jsonl, key: invoice_id, role: declared}
  lines: {path: lines.jsonl, key: invoice_id, role: components, derived_from_declared: [share]}
checks:
  - id: invoice_total
    field: total
    declared: invoices.total
    recompute: "sum(lines.amount)"
    data_type: currency
    epsilon_reason: half a cent
    escalate_to: finance_owner
"""


def faults(text: str | bytes, folder: Path = Path()) -> list[tuple[str, int | None]]:
    with pytest.raises(CheckSetError) as caught:
        parse_checks(text if isinstance(text, bytes) else text.encode(), "checks.yaml", folder=folder)
    assert all(fault.message for fault in caught.value.faults)
    return [(fault.code, fault.line) for fault in caught.value.faults]


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_check_file_is_refused_with_exactly_its_errors(name):
    with pytest.raises(CheckSetError) as caught:
        load_check_set(LOAD_ERRORS / name)
    found = [{"code": fault.code, "line": fault.line} for fault in caught.value.faults]
    assert found == EXPECTED[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", [("yaml_syntax", 1)]),
        (b"[1, 2]", [("yaml_syntax", 1)]),
        (b"schema: x\n\tsources: y", [("yaml_syntax", 2)]),
        (b"schema: x\nsources: \xff", [("yaml_syntax", 2)]),
        (b"schema: \x01", [("yaml_syntax", 1)]),
        (b"a: 1\n---\nb: 2\n", [("yaml_syntax", 3)]),
        (b"a: &x 1\nb: *x\n", [("yaml_syntax", 1), ("yaml_syntax", 2)]),
        (b"a: !!python/object/apply:os.system [x]\n", [("yaml_syntax", 1)]),
        (b"%YAML 1.1\n---\na: 1\n", [("yaml_syntax", 1)]),
        (b'a: 1\nb: "\\ud800"\n', [("yaml_syntax", 2)]),
        (b"[" * 100_000, [("yaml_syntax", 1)]),
        (b"a" * (MAX_BYTES + 1), [("yaml_syntax", 1)]),
        (b"- " * 20 + b"x", [("yaml_syntax", 1)]),
        (b"? [a]\n: b\n", [("schema_unknown", 1)]),
    ],
)
def test_what_is_no_plain_yaml_mapping_is_a_syntax_error_with_its_line(text, expected):
    assert faults(text) == expected


def test_a_check_file_that_is_no_file_is_a_usage_error(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in (tmp_path / "absent.yaml", tmp_path, tmp_path / "pipe.yaml"):
        with pytest.raises(UsageError, match="cannot be read"):
            load_check_set(path)


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("schema: govern/checks/v1\n", "schema: govern/checks/v1\nmore: 1\n", "unknown_key", 2),
        ("  - id: invoice_total\n", "  - text\n  - id: invoice_total\n", "bad_value", 6),
        ("id: invoice_total", "id: [a]", "bad_value", 6),
        ("id: invoice_total", "id: ~", "bad_value", 6),
        ("id: invoice_total", "id: ünï", "bad_value", 6),
        ("field: total", "field: ' '", "bad_value", 7),
        ("declared: invoices.total", "declared: total", "bad_value", 8),
        ("declared: invoices.total", "declared: invoices.unit price", "bad_value", 8),
        ("data_type: currency", "data_type: Currency", "bad_value", 10),
        ("escalate_to: finance_owner", "escalate_to:", "bad_value", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: ~", "epsilon_reason_missing", 11),
        ("epsilon_reason: half a cent", 'epsilon_reason: "\\u200b \\u202e\\u2800"', "epsilon_reason_missing", 11),
        ("escalate_to: finance_owner", 'escalate_to: "\\u2060"', "bad_value", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: a\n    epsilon: 1e-40", "epsilon_out_of_policy", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: a\n    epsilon: +0.001", "epsilon_not_a_number", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: a\n    epsilon: ", "epsilon_not_a_number", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: a\n    no_components: none", "bad_value", 12),
        ("epsilon_reason: half a cent", "epsilon_reason: a\n    unit: ''", "bad_value", 12),
        ("path: invoices.jsonl", "path: invoices.JSONL", "source_format", 3),
        ("path: invoices.jsonl", "path: invoices", "source_format", 3),
        ("path: invoices.jsonl", 'path: "a\\0.jsonl"', "bad_value", 3),
        ("key: invoice_id, role: declared", "role: declared", "missing_key", 3),
        ("role: declared", "role: both", "bad_value", 3),
        ("  invoices:", "  in-voices: {path: a.csv, key: k, role: components}\n  invoices:", "bad_value", 3),
        ("  invoices:", "  extra: x\n  invoices:", "bad_value", 3),
        ("[share]", "share", "bad_value", 4),
        ("[share]", "[[share]]", "bad_value", 4),
        ("schema: govern/checks/v1\n", "schema: govern/checks/v1\nepsilon_policy: 1\n", "bad_value", 2),
        ("schema: govern/checks/v1\n", "schema: govern/checks/v1\nepsilon_policy: {money: 1}\n", "unknown_key", 2),
        ("schema: govern/checks/v1\n", "schema: govern/checks/v1\nepsilon_policy: {float: x}\n", "epsilon_not_a_number", 2),
        ("schema: govern/checks/v1\n", "schema: govern/checks/v1\nepsilon_policy: {float: -1}\n", "bad_value", 2),
        ('"sum(lines.amount)"', '"count(*) + sum(lines.share)"', "recompute_uses_derived", 9),
        ('"sum(lines.amount)"', "''", "bad_value", 9),
    ],
)  # fmt: skip
def test_a_fault_names_the_line_of_the_key_at_fault(old, new, code, line):
    assert faults(changed(old, new)) == [(code, line)]


@pytest.mark.parametrize("key", ["id", "field", "declared", "recompute", "data_type", "escalate_to"])
def test_a_missing_key_names_the_first_line_of_its_mapping(key):
    lines = GOOD.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().removeprefix("- ").startswith(f"{key}:"))
    removed = lines.pop(at)
    if removed.strip().startswith("- "):
        lines[at] = lines[at].replace("    ", "  - ", 1)
    assert faults("\n".join(lines)) == [("missing_key", 6)]


def test_checks_that_are_no_list_are_refused():
    head = GOOD.partition("checks:")[0]
    assert faults(head + "checks: x\n") == faults(head + "checks: {a: b}\n") == [("bad_value", 5)]
    assert faults(head) == [("missing_key", 1)]


def test_sources_that_are_none_are_refused():
    assert faults("schema: govern/checks/v1\nsources: {}\nchecks: []\n") == [("bad_value", 2), ("bad_value", 3)]
    assert faults("schema: govern/checks/v1\nchecks: []\n") == [("missing_key", 1), ("bad_value", 2)]


def test_every_error_of_a_file_is_reported_by_line():
    text = changed("data_type: currency", "data_type: integer\n    epsilon: 0.1\n    unit: ' '")
    text = text.replace("key: invoice_id, role: declared", "key: '', role: declared").replace("amount", "share")
    assert faults(text) == [
        ("bad_value", 3),
        ("recompute_uses_derived", 9),
        ("epsilon_out_of_policy", 11),
        ("bad_value", 12),
    ]


def test_a_source_with_a_fault_of_its_own_does_not_blame_the_checks():
    assert faults(changed("role: declared", "role: x")) == [("bad_value", 3)]


@pytest.mark.parametrize("link", ["symlink", "hardlink", "folder"])
def test_another_name_does_not_make_a_declared_file_independent(tmp_path, link):
    (tmp_path / "invoices.jsonl").write_text("{}\n")
    path = "again.jsonl"
    if link == "symlink":
        (tmp_path / path).symlink_to("invoices.jsonl")
    elif link == "hardlink":
        (tmp_path / path).hardlink_to(tmp_path / "invoices.jsonl")
    else:
        (tmp_path / "folder").symlink_to(".")
        path = "folder/invoices.jsonl"
    text = changed("path: lines.jsonl", f"path: {path}")
    assert faults(text, tmp_path) == [("recompute_uses_declared", 9)]
    assert faults(text.replace("sum(lines.amount)", "count(*)"), tmp_path) == [("recompute_uses_declared", 9)]


def test_a_mark_of_derived_holds_for_every_name_of_its_file():
    text = changed("checks:\n", "  twin: {path: ./x/../lines.jsonl, key: k, role: components}\nchecks:\n")
    assert faults(text.replace("sum(lines.amount)", "sum(twin.share)")) == [("recompute_uses_derived", 10)]


def test_numbers_are_read_from_the_text_of_the_scalar():
    more = "    epsilon: 1e-7\n    epsilon_relative: 0.0000000010\n    epsilon_relative_reason: range\n"
    text = GOOD.replace("currency", "float") + more + "    no_components: zero\n    no_components_reason: empty\n"
    check = parse_checks(text.encode(), "checks.yaml").checks[0]
    assert (check.epsilon, check.epsilon_relative) == (Decimal("1e-7"), Decimal("1e-9"))
    assert (check.data_type, check.no_components) == (DataType.FLOAT, NoComponents.ZERO)


def test_what_yaml_calls_a_date_or_a_boolean_stays_text():
    text = GOOD.replace("finance_owner", "no").replace("field: total", "field: 2026-01-01").replace("_total", "")
    check = parse_checks(text.encode(), "checks.yaml").checks[0]
    assert (check.escalate_to, check.field) == ("no", "2026-01-01")


def test_a_declared_column_of_any_name_can_be_quoted():
    text = GOOD.replace("declared: invoices.total", 'declared: \'invoices."a~b/""c"\'')
    check = parse_checks(text.encode(), "checks.yaml").checks[0]
    assert (check.declared, check.pointer) == ('invoices.a~b/"c', '/a~0b~1"c')


def test_a_tightened_maximum_is_in_force_for_the_checks_of_its_file():
    head = "schema: govern/checks/v1\nepsilon_policy: {currency: '0.001'}\n"
    text = head + GOOD.split("\n", 1)[1] + "    epsilon: '0.005'\n"
    assert faults(text) == [("epsilon_out_of_policy", 14)]


def test_sources_can_be_tables_instead_of_files():
    sources = {
        "invoices": Source("invoices", Role.DECLARED, "id"),
        "lines": Source("lines", Role.COMPONENTS, "id"),
    }
    lines = GOOD.splitlines(keepends=True)
    check_set = parse_checks("".join(lines[:1] + lines[4:]).encode(), "shipped.yaml", sources)
    assert [check.id for check in check_set.checks] == ["invoice_total"]
    with pytest.raises(CheckSetError, match="unknown_key"):
        parse_checks(GOOD.encode(), "shipped.yaml", sources)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_refused_with_a_line_and_never_crash(data):
    assert all(line is not None for _, line in faults(data))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(GOOD)), st.integers(0, 40), st.text(max_size=6))
def test_any_edit_of_a_good_file_is_accepted_or_refused_with_a_line(at, length, new):
    text = (GOOD[:at] + new + GOOD[at + length :]).encode("utf-8", "surrogatepass")
    try:
        found = list(parse_checks(text, "checks.yaml").checks)
    except CheckSetError as error:
        found = [fault for fault in error.faults if fault.line]
    assert found
