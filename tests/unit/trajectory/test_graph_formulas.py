"""The formulas of the repository tables travel with them, and versions are never mixed."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.errors import StorageError
from governance_pipeline.trajectory import graph_formulas
from governance_pipeline.trajectory.graph_cache import CODE as PROVIDER_CODE


@pytest.mark.parametrize("found", [{}, {"features.version": "trajectory-features-v1"}])
def test_a_dataset_of_another_version_or_none_is_refused(found):
    with pytest.raises(StorageError, match="not comparable"):
        graph_formulas.refuse_other_version("features_graph_surface", found, "table x")
    graph_formulas.refuse_other_version(
        "features_amplification", graph_formulas.metadata_of("features_amplification"), "x"
    )


def test_the_document_keeps_its_schema_and_names_columns_that_exist():
    folder = resources.files("governance_pipeline.trajectory") / "schemas"
    document = graph_formulas.formulas_document()
    jsonschema.Draft202012Validator(json.loads((folder / "features-formulas-v2.json").read_text("utf-8"))).validate(
        document
    )
    for term in document["terms"]:
        columns = set(contract_of(term["table"]).to_schema().columns)
        assert set(term["column"].split()) <= columns


def test_every_file_that_decides_a_value_is_there():
    package = resources.files("governance_pipeline")
    assert all(package.joinpath(name).is_file() for name in (*graph_formulas.CODE, *PROVIDER_CODE))
