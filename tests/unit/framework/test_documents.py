"""JSON of a governed folder: the shipped ones keep their schemas; a broken one is refused with the place."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import governance_pipeline.framework
from governance_pipeline.errors import FaultyFileError
from governance_pipeline.framework.documents import (
    CANONICAL_REGISTRY,
    CURRENT_STATE,
    PROMPT_REGISTRY,
    parsed_document,
    read_document,
    schema_document,
)
from governance_pipeline.framework.folder import STATE, GovernedFolder
from governance_pipeline.strict.files import FileRefused

PACKAGE = Path(governance_pipeline.framework.__file__).parent
STATE_TEXT = (PACKAGE / "templates/shared/current_state.json").read_text("utf-8")
ASSET = {
    "name": "sales.db", "canonical_path": "data/sales.db", "last_verified_hash": "a" * 64,
    "last_verified_at": "2026-01-01T00:00:00Z", "superseded_versions": [],
}  # fmt: skip


def _state(**changes) -> bytes:
    return json.dumps({**json.loads(STATE_TEXT), **changes}).encode()


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (_state(error_count=-1), "$.error_count"),
        (_state(error_count=1.0), "$.error_count"),
        (_state(error_count=True), "$.error_count"),
        (_state(current_phase=1.5), "$.current_phase"),
        (_state(baseline_version="1"), "$.baseline_version"),
        (_state(last_re_baseline_at="yesterday"), "$.last_re_baseline_at"),
        (_state(last_re_baseline_at="2026-02-30T00:00:00Z"), "$.last_re_baseline_at"),
        (_state(last_re_baseline_at="2026-01-01T24:61:00Z"), "$.last_re_baseline_at"),
        (_state(last_re_baseline_at="2026-01-01T00:00:00Z\n"), "$.last_re_baseline_at"),
        (_state(more=1), "more"),
        (b"[]", "$"),
        (STATE_TEXT.replace('"error_count": 0,\n', "").encode(), "error_count"),
    ],
)
def test_a_state_that_breaks_its_schema_is_refused_with_the_path_of_the_fault(data, place):
    with pytest.raises(FaultyFileError) as caught:
        parsed_document(STATE, data, CURRENT_STATE)
    assert caught.value.path == STATE
    assert caught.value.faults[0].code == "schema"
    assert place in caught.value.faults[0].message


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1, "a": 2}', b"\xff", b"NaN", b"{} {}"])
def test_what_is_no_json_text_is_refused_with_its_code(data):
    with pytest.raises(FaultyFileError) as caught:
        parsed_document(STATE, data, CURRENT_STATE)
    assert caught.value.faults[0].code in {
        "empty", "malformed_json", "duplicate_member", "not_utf8", "not_finite", "trailing_data",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"canonical_path": "../outside.db"}, "canonical_path"),
        ({"canonical_path": "/etc/passwd"}, "canonical_path"),
        ({"canonical_path": "a/../../b"}, "canonical_path"),
        ({"last_verified_hash": "A" * 64}, "last_verified_hash"),
        ({"superseded_versions": [{"path": "x"}]}, "superseded_versions[0]"),
        ({"status": "ambiguous"}, "status"),
    ],
)
def test_an_entry_of_the_registry_that_breaks_its_schema_is_refused_with_its_place(change, place):
    with pytest.raises(FaultyFileError, match="assets") as caught:
        parsed_document("r", json.dumps({"assets": [ASSET | change]}).encode(), CANONICAL_REGISTRY)
    assert place in caught.value.faults[0].message


def test_an_agent_without_what_needs_a_checkpoint_is_refused():
    document = json.loads((PACKAGE / "templates/en/prompt_registry.json").read_text("utf-8"))
    del document["agents"]["validator"]["needs_checkpoint"]
    with pytest.raises(FaultyFileError, match="validator"):
        parsed_document("p", json.dumps(document).encode(), PROMPT_REGISTRY)


def test_a_good_registry_is_read():
    assert parsed_document("r", json.dumps({"assets": [ASSET]}).encode(), CANONICAL_REGISTRY) == {"assets": [ASSET]}


def test_a_link_in_place_of_the_state_is_not_followed(tmp_path):
    (tmp_path / "03_state").mkdir()
    (tmp_path / STATE).write_text(STATE_TEXT)
    folder = GovernedFolder(tmp_path)
    assert read_document(folder, STATE, CURRENT_STATE)["project_status"] == "initialized"
    (tmp_path / "elsewhere.json").write_text(STATE_TEXT)
    (tmp_path / STATE).unlink()
    (tmp_path / STATE).symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(FileRefused, match="symlink"):
        read_document(folder, STATE, CURRENT_STATE)


@pytest.mark.parametrize("path", sorted((PACKAGE / "schemas").glob("*.json")), ids=lambda p: p.stem)
def test_every_shipped_schema_is_a_valid_schema(path):
    jsonschema.Draft202012Validator.check_schema(schema_document(path.stem))
