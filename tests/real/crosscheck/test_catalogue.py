"""The catalogue over real public logs: it names what they hold, and every number they declare is answered for."""

from __future__ import annotations

import pytest

from governance_pipeline.crosscheck.builtin import cross_checks, not_checkable, unchecked
from governance_pipeline.crosscheck.catalogue import catalogue
from governance_pipeline.crosscheck.formula import ALL_ROWS
from governance_pipeline.ingest.layout import scan
from governance_pipeline.ingest.round import read_files
from governance_pipeline.storage.content import ContentStore

FORMATS = ("claude_code", "swe_agent", "mini_swe_agent", "openhands")


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Return a function that reads the logs of one format as one round, once."""
    kept = {}

    def _read(folder, name):
        if name not in kept:
            kept[name] = read_files(scan(folder / name), "r-1", ContentStore(tmp_path_factory.mktemp(name)))
        return kept[name]

    return _read


@pytest.mark.parametrize("name", FORMATS)
def test_every_recompute_names_columns_the_logs_really_have(read, real_logs, name):
    tables = read(real_logs, name)
    parts, declared = tables.frame("core_components"), set(tables.frame("core_declared")["field"])
    emitted = set(zip(parts["source"], parts["column"], strict=True))
    checks = [entry.check for entry in catalogue().entries if entry.format == name and entry.check.field in declared]
    assert checks
    for check in checks:
        assert check.formula.sources <= {source for source, _ in emitted}, check.id
        named = {(column.source, column.name) for column in check.formula.columns if column.name != ALL_ROWS}
        assert named <= emitted, check.id


@pytest.mark.parametrize("name", FORMATS)
def test_every_declared_number_has_a_record_or_a_stated_reason(read, real_logs, name):
    tables = read(real_logs, name)
    declared = tables.frame("core_declared")
    checks = cross_checks(declared, tables.frame("core_components"), tables.frame("raw_quarantine"))
    assert unchecked(declared, checks).empty
    answered = set(
        zip(checks["declared_path"], checks["declared_pointer"], checks["declared_line"].fillna(0), strict=True)
    )
    asked = set(zip(declared["path"], declared["pointer"], declared["line"].fillna(0), strict=True))
    assert len(asked - answered) == len(not_checkable(declared))
