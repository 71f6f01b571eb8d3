"""The formulas travel with the data, and data of other formulas is not mixed with ours."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import jsonschema
import pytest

from governance_pipeline.contracts.registry import contract_of, empty_frame
from governance_pipeline.errors import StorageError
from governance_pipeline.trajectory import formulas, step_surface
from governance_pipeline.trajectory.formulas import (
    CODE,
    FORMULAS,
    code_digest,
    formulas_document,
    formulas_text,
    metadata,
    refuse_other_formulas,
    refuse_other_metadata,
)

PACKAGE = Path(formulas.__file__).parents[1]


@pytest.mark.parametrize(
    "change", [{"features.epsilon": "1e-05"}, {"features.version": "trajectory-features-v2"}, {"features.version": ""}]
)
def test_metadata_of_another_epsilon_or_version_is_refused_with_both_named(change):
    with pytest.raises(StorageError, match=r"table x of round r-1 was made by .* with epsilon .* make the table again"):
        refuse_other_metadata({**metadata(), **change}, "table x of round r-1")


def test_metadata_without_formulas_is_refused():
    with pytest.raises(StorageError, match="None with epsilon None"):
        refuse_other_metadata({}, "table x")


def test_own_metadata_passes_and_a_changed_code_digest_alone_does_not_matter():
    refuse_other_metadata(metadata(), "table x")
    refuse_other_metadata({**metadata(), "features.code_digest": "0" * 64}, "table x")


@pytest.mark.parametrize("column", ["epsilon", "feature_version"])
def test_a_frame_with_one_row_of_other_formulas_is_refused(one_round, column):
    frame = step_surface.step_surface(one_round([{"step": 1, "F": 0}, {"step": 2, "F": 0}]))
    refuse_other_formulas(frame, "steps")
    frame.loc[1, column] = {"epsilon": 2e-6, "feature_version": "trajectory-features-v9"}[column]
    with pytest.raises(StorageError, match="not comparable"):
        refuse_other_formulas(frame, "steps")


def test_a_frame_without_rows_mixes_nothing():
    refuse_other_formulas(empty_frame("features_step_surface"), "steps")


def test_the_document_is_whole_and_always_the_same_bytes():
    schema = json.loads((PACKAGE / "trajectory" / "schemas" / "features-formulas-v1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(formulas_document())
    assert json.loads(formulas_text()) == formulas_document()
    assert formulas_text() == formulas_text() == metadata()["features.formulas"]
    assert formulas_document()["code_digest"] == code_digest()


def test_every_formula_names_a_column_of_its_table():
    assert [f for f in FORMULAS if f.column not in contract_of(f.table).to_schema().columns] == []


def test_the_code_digest_covers_every_module_that_the_tables_are_computed_with():
    """Follow the imports from the table functions through the packages that decide a value."""
    seen: set[str] = set()
    waiting = ["trajectory/step_surface.py", "trajectory/round_features.py", "trajectory/cohort_tables.py"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += imported(PACKAGE / name)
    assert seen == set(CODE)
    assert list(CODE) == sorted(CODE)


def imported(path: Path) -> list[str]:
    modules = [
        node.module or "" for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    parts = [module.split(".")[1:] for module in modules]
    return ["/".join(part) + ".py" for part in parts if part[:1] in (["trajectory"], ["rounds"])]


def test_the_code_digest_changes_with_the_bytes_of_a_file(tmp_path, monkeypatch):
    for name in CODE:
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes((PACKAGE / name).read_bytes())
    monkeypatch.setattr(formulas.resources, "files", lambda _: tmp_path)
    digest = code_digest.__wrapped__
    assert digest() == code_digest()
    (tmp_path / CODE[-1]).write_bytes(b"changed")
    assert digest() != code_digest()
