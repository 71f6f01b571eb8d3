"""The two safety_checks.py: both show the six signatures, one calls the library and the other can do nothing."""

from __future__ import annotations

import ast
import inspect
import runpy
from pathlib import Path

import pandas as pd
import pytest

from governance_pipeline.errors import GateRefused
from governance_pipeline.framework import safety_checks
from governance_pipeline.framework.folder import SAFETY_CHECKS
from governance_pipeline.framework.scaffold.signatures import (
    SIX,
    TEMPLATES,
    Variant,
    signature_faults,
    variant_of,
    variant_of_folder,
)
from governance_pipeline.framework.scaffold.template_files import template_bytes


def _source(variant: Variant) -> bytes:
    return template_bytes(None, TEMPLATES[variant])


@pytest.mark.parametrize("variant", TEMPLATES)
def test_both_show_exactly_the_six_signatures(variant):
    tree = ast.parse(_source(variant))
    functions = {
        node.name: tuple(a.arg for a in node.args.args) for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    assert {name: found for name, found in functions.items() if name != "enforce"} == SIX
    assert list(signature_faults(_source(variant))) == []
    assert all(ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef))


def test_each_function_of_the_skeleton_raises_until_somebody_fills_it_in():
    namespace: dict = {}
    exec(compile(_source(Variant.SKELETON), "skeleton", "exec"), namespace)
    for name, parameters in SIX.items():
        with pytest.raises(NotImplementedError, match=name):
            namespace[name](*parameters)


def test_one_changed_byte_makes_it_neither(tmp_path):
    for variant in TEMPLATES:
        assert variant_of(_source(variant)) is variant
        assert variant_of(_source(variant) + b"\n") is Variant.NEITHER
    assert variant_of_folder(tmp_path) is Variant.NEITHER
    (tmp_path / Path(SAFETY_CHECKS).parent).mkdir()
    (tmp_path / SAFETY_CHECKS).write_bytes(_source(Variant.SKELETON))
    assert variant_of_folder(tmp_path) is Variant.SKELETON


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"def broken(:", "no Python"),
        (b"\0", "no Python"),
        (b"\xff", "no Python"),
        (
            b"class A:\n    def verify_output_hash(claimed_path, expected_hash): ...\n",
            "it defines no verify_output_hash",
        ),
        (b"def verify_output_hash(expected_hash, claimed_path): ...\n", "does not begin with (claimed_path"),
        (b"def verify_output_hash(claimed_path): ...\n", "does not begin with (claimed_path"),
    ],
)
def test_what_does_not_show_a_signature_is_named(source, said):
    assert any(said in fault for fault in signature_faults(source))


def test_parameters_a_project_adds_after_the_six_are_its_own():
    text = _source(Variant.SKELETON).replace(b"run_id, **options):", b"run_id, lineage=None):")
    assert list(signature_faults(text)) == []


def test_the_six_are_the_librarys_with_the_same_defaults(tmp_path):
    (tmp_path / Path(SAFETY_CHECKS).parent).mkdir()
    path = tmp_path / SAFETY_CHECKS
    path.write_bytes(_source(Variant.LIBRARY))
    ours = runpy.run_path(str(path))
    for name, parameters in SIX.items():
        theirs = list(inspect.signature(getattr(safety_checks, name)).parameters.values())[: len(parameters)]
        assert tuple(p.name for p in theirs) == parameters
        for parameter in theirs:
            assert inspect.signature(ours[name]).parameters[parameter.name].default == parameter.default
    output = tmp_path / "output"
    output.write_bytes(b"x")
    with pytest.raises(GateRefused, match="HASH_MISMATCH"):
        ours["enforce"](ours["verify_output_hash"](output, "0" * 64))
    assert ours["derive_timeout_from_percentiles"]([]).ok is False
    assert ours["enforce_single_canonical"]("x", tmp_path / "none").ok is False
    assert ours["check_lock_orphaned"](tmp_path / "none.lock").ok is True
    assert ours["validator_is_independent"]("a", "a", "run").ok is False
    table = pd.DataFrame({"k": [1, 2], "v": [1, 2]})
    assert ours["compare_datasets_by_primary_key"](table, table, "rowid").ok is False
    assert ours["compare_datasets_by_primary_key"](table, table, "k").ok is True
