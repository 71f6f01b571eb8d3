"""The committed sample is what its generator writes, holds what it promises, and its answers speak of what exists."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from governance_pipeline.contracts.registry import contract_of
from governance_pipeline.rounds.load import read_contract
from governance_pipeline.vocabulary import is_round_id

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
ROUNDS = SAMPLE / "rounds"
EXPECTED = json.loads((SAMPLE / "expected.json").read_text("utf-8"))
FAULTS = EXPECTED["faults"]
ROUND_IDS = sorted(path.name for path in ROUNDS.iterdir())
PROMISED_FAULTS = {
    "bare_claim",
    "count_off_by_one",
    "criterion_without_evidence",
    "declared_nan",
    "duplicate_subject",
    "event_numbers_disagree",
    "false_done",
    "goal_substitution",
    "invalid_contract",
    "no_contract",
    "output_hash_mismatch",
    "output_missing",
    "repeated_message_id",
    "repeated_step",
    "self_certification",
    "step_gap",
    "subagent_totals_wrong",
    "test_deleted",
    "test_disabled",
    "truncated_last_line",
    "unpriced_model",
    "unsupported_file",
    "validator_descends",
    "wrong_total",
}
MOST_BYTES = 600_000


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(SAMPLE / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=SAMPLE.parent)


@pytest.fixture
def copy(tmp_path):
    for name in ("rounds", "checks"):
        shutil.copytree(SAMPLE / name, tmp_path / name)
    shutil.copy(SAMPLE / "expected.json", tmp_path)
    return tmp_path


def test_check_names_each_changed_missing_and_foreign_file(copy):
    changed = copy / "rounds/parser-0001/changes.jsonl"
    changed.write_bytes(changed.read_bytes().replace(b"tests/", b"test5/", 1))
    (copy / "rounds/parser-0002/round.toml").unlink()
    (copy / "checks/left_over.csv").write_text("a\n")
    result = generate("--check", "--root", str(copy))
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "missing: rounds/parser-0002/round.toml",
        "not written by the generator: checks/left_over.csv",
        "differs: rounds/parser-0001/changes.jsonl",
    ]
    assert not (copy / "rounds/parser-0002/round.toml").exists(), "a check writes nothing"


def test_writing_removes_what_the_generator_does_not_know(copy):
    (copy / "rounds/parser-0001/note.txt").write_text("by hand\n")
    assert generate("--root", str(copy)).returncode == 0
    assert not (copy / "rounds/parser-0001/note.txt").exists()
    assert generate("--check", "--root", str(copy)).returncode == 0


def test_the_committed_tree_is_what_the_generator_writes():
    result = generate("--check")
    assert (result.returncode, result.stderr) == (0, "")


def test_the_generator_reads_no_library_code_and_no_clock():
    imported = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)
    for path in sorted(SAMPLE.rglob("*.py")):
        modules = {name.split(".")[0] for name in imported.findall(path.read_text("utf-8"))}
        assert modules <= {*sys.stdlib_module_names, "generator"} - {"random", "secrets", "time", "os"}, path.name
        assert "datetime.now" not in path.read_text("utf-8"), path.name


def test_signatures_are_those_of_rfc_8032():
    spec = importlib.util.spec_from_file_location("sample_ed25519", SAMPLE / "generator" / "ed25519.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # RFC 8032, section 7.1, tests 1 and 2.
    vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
    ]
    for secret, public, message, signature in vectors:
        assert module.public_key(bytes.fromhex(secret)).hex() == public
        assert module.sign(bytes.fromhex(secret), bytes.fromhex(message)).hex() == signature


def test_an_attestation_names_the_bytes_that_lie_beside_it():
    seen = 0
    for path in sorted(ROUNDS.glob("*/attestations.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            envelope = json.loads(line)
            if "payload" not in envelope:
                continue
            statement = json.loads(base64.b64decode(envelope["payload"], validate=True))
            for subject in statement["subject"]:
                data = (path.parent / subject["name"]).read_bytes()
                assert subject["digest"]["sha256"] == hashlib.sha256(data).hexdigest()
                seen += 1
    assert seen >= 10


def test_there_are_enough_rounds_projects_formats_and_clean_rounds():
    assert len(ROUND_IDS) == EXPECTED["rounds"] >= 18
    assert len({round_id.split("-")[0] for round_id in ROUND_IDS}) == 3
    assert len({project_of(round_id) for round_id in ROUND_IDS} - {None}) == 3
    files = [path for path in ROUNDS.glob("*/logs/**/*") if path.is_file()]
    kinds = Counter(kind for path in files if (kind := format_of(path)))
    assert set(kinds) == {"native", "claude_code", "mini_swe_agent", "swe_agent"}
    assert len(EXPECTED["clean_rounds"]) >= 9
    written = [path for name in ("rounds", "checks") for path in (SAMPLE / name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in [*written, SAMPLE / "expected.json"]) <= MOST_BYTES


def project_of(round_id):
    _, contract, _ = read_contract(ROUNDS / round_id / "round.toml")
    return contract.project if contract else None


def format_of(path):
    if path.name == "audit.jsonl":
        return "native"
    if path.name.endswith(".traj.json"):
        return "mini_swe_agent"
    if path.suffix == ".traj":
        return "swe_agent"
    return "claude_code" if b'"sessionId"' in path.read_bytes() else None


def test_every_round_id_is_legal_and_no_two_differ_only_in_case():
    assert all(is_round_id(round_id) for round_id in ROUND_IDS)
    assert len({round_id.casefold() for round_id in ROUND_IDS}) == len(ROUND_IDS)


def test_every_promised_fault_is_planted_and_no_other():
    assert {fault["fault"] for fault in FAULTS} == PROMISED_FAULTS


def test_a_round_holds_one_kind_of_fault_or_none():
    kinds: dict[str, set[str]] = {}
    for fault in FAULTS:
        kinds.setdefault(fault["round_id"], set()).add(fault["fault"])
    assert all(len(planted) == 1 for planted in kinds.values())
    assert sorted([*kinds, *EXPECTED["clean_rounds"]]) == ROUND_IDS == sorted(EXPECTED["cross_checks"])


def test_every_fault_speaks_of_a_table_and_columns_that_exist():
    assert {fault["table"] for fault in FAULTS} <= set(EXPECTED["tables_today"])
    for fault in FAULTS:
        assert set(fault["where"]) <= set(contract_of(fault["table"]).to_schema().columns), fault["id"]


def test_fault_ids_are_unique_and_each_says_why():
    assert len({fault["id"] for fault in FAULTS}) == len(FAULTS)
    assert all(fault["why"].strip() and fault["count"] >= 0 for fault in FAULTS)


def test_a_fault_that_cannot_be_shown_today_still_shows_its_raw_facts_today():
    shown = {fault["fault"] for fault in FAULTS if fault["where"].get("code") not in EXPECTED["codes_later"]}
    assert shown == PROMISED_FAULTS


@pytest.mark.parametrize("round_id", EXPECTED["clean_rounds"])
def test_a_clean_round_has_a_valid_contract_and_true_output_hashes(round_id):
    folder = ROUNDS / round_id
    assert str(read_contract(folder / "round.toml")[0]) == "valid"
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            entry = json.loads(line)
            if "output_hash" in entry:
                output = entry.get("output_path")
                data = (folder / output).read_bytes() if output else entry["output_result"].encode()
                assert entry["output_hash"] == hashlib.sha256(data).hexdigest()


def test_parents_exist_and_come_before_their_children():
    for round_id in ROUND_IDS:
        _, contract, _ = read_contract(ROUNDS / round_id / "round.toml")
        if contract is not None and contract.parent is not None:
            assert contract.parent in ROUND_IDS
            assert contract.parent < round_id


def test_every_check_has_a_subject_that_agrees_one_that_does_not_and_one_without_parts():
    statuses: dict[str, set[str]] = {}
    for record in EXPECTED["checks"]:
        statuses.setdefault(record["check_id"], set()).add(record["status"])
        assert (SAMPLE / record["file"]).is_file()
    assert len(statuses) >= 5
    assert all(found == {"match", "mismatch", "unverifiable"} for found in statuses.values())
