"""`govern verdict dismiss` and `check --bundle`: what a person signs and what another machine finds again."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

from governance_pipeline.cli.main import run
from governance_pipeline.pipeline import TABLES
from governance_pipeline.verdict.document_schema import document_fault
from governance_pipeline.workspace import Workspace

SAMPLE = Path(__file__).parents[3] / "data" / "sample" / "rounds"
ROUND, HASH_ROUND = "parser-0004", "billing-0008"
REASON = "the vendor bills one call twice, see their credit note"


def _world_module():
    if "gate_world" not in sys.modules:
        path = Path(__file__).parents[1] / "gate" / "gate_world.py"
        spec = importlib.util.spec_from_file_location("gate_world", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["gate_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["gate_world"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A world whose lake holds a round with a false total and one with a false hash."""
    root = tmp_path_factory.mktemp("verdict-dismiss")
    made = _world_module().World.create(root / "world")
    for name in (ROUND, HASH_ROUND):
        shutil.copytree(SAMPLE / name, root / "landing" / name)
    Workspace(root / "landing", made.lake.root).make(TABLES, [ROUND, HASH_ROUND])
    made.keys = made.write_keys()
    return made


@pytest.fixture
def govern(world, tmp_path, monkeypatch, capsys):
    """Run `govern verdict …` on the world; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def _govern(*arguments, lake=world.lake.root):
        code = run(["verdict", *map(str, arguments), "--lake", str(lake), "--config", str(world.config_path)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return _govern


def finding_of(govern, name):
    code, out, _ = govern("show", name, "--json", "--landing", "absent")
    assert code == 0
    document = json.loads(out)
    return document["status"], document["new_findings"][0]


def dismiss(govern, world, finding, who="dot", *more):
    return govern("dismiss", finding, "--reason", REASON, "--key", world.keys / f"{who}.pem", "--json", *more)


def test_who_has_not_read_the_finding_cannot_dismiss_it(govern, world):
    finding = finding_of(govern, ROUND)[1]["finding_id"]
    code, out, err = dismiss(govern, world, finding, "dot", "--digest", "00000000")
    assert (code, out) == (4, "")
    assert "DIGEST_MISMATCH" in err
    assert "declared 0.25, computed 0.195934" in err


@pytest.mark.parametrize("until", ["tomorrow", "2026-13-01", "2020-01-01"])
def test_a_day_that_is_none_or_over_exits_2(govern, world, until):
    finding = finding_of(govern, ROUND)[1]["finding_id"]
    digest = _digest(govern, world, finding)
    assert dismiss(govern, world, finding, "dot", "--digest", digest, "--until", until)[:2] == (2, "")


def _digest(govern, world, finding):
    _, _, err = dismiss(govern, world, finding, "dot", "--digest", "00000000")
    return next(line for line in err.splitlines() if line.startswith("digest: ")).split()[1][:8]


def test_a_false_hash_exits_4(govern, world):
    finding = finding_of(govern, HASH_ROUND)[1]["finding_id"]
    code, out, err = dismiss(govern, world, finding, "dot", "--digest", _digest(govern, world, finding))
    assert (code, out) == (4, "")
    assert "BLOCKED_POLICY" in err


def test_what_is_dismissed_is_shown_so_in_every_form_and_the_same_bundle_finds_the_fact(govern, world, tmp_path):
    status, entry = finding_of(govern, ROUND)
    finding = entry["finding_id"]
    bundle = tmp_path / "finding.zip"
    code, before, err = govern("check", "--finding", finding, "--bundle", bundle, "--json")
    assert (status, code, "written: " in err) == ("warn", 0, True)

    code, out, _ = dismiss(govern, world, finding, "dot", "--digest", _digest(govern, world, finding))
    document = json.loads(out)
    assert (code, document["by"], document["decision"]) == (0, "dot", "warn")
    assert document_fault("finding-dismissal-v1.json", document) is None

    status, entry = finding_of(govern, ROUND)
    assert (status, entry["decision"], entry["dismissed"]["by"]) == ("pass", "dismissed", "dot")
    for form in ("human", "md", "html", "junit", "sarif"):
        _, out, _ = govern("show", ROUND, "--format", form, "--landing", "absent")
        assert REASON in " ".join(out.split())
    assert json.loads(govern("check", "--finding", finding, "--json")[1])["finding"]["decision"] == "dismissed"

    elsewhere = tmp_path / "another" / "folder"
    elsewhere.mkdir(parents=True)
    shutil.copy(bundle, elsewhere / "b.zip")
    code, again, err = govern(
        "check", "--finding", finding[:8], "--bundle", elsewhere / "b.zip", "--json", lake=elsewhere / "no-lake"
    )
    assert (code, json.loads(again)) == (0, json.loads(before))
    assert "holds no dismissals" in err


def test_a_blocking_finding_and_its_round_are_made_again_elsewhere_without_the_store(govern, tmp_path):
    finding = finding_of(govern, HASH_ROUND)[1]["finding_id"]
    bundle = tmp_path / "block.zip"
    assert govern("check", "--round", HASH_ROUND, "--bundle", bundle)[0] == 1
    lake = tmp_path / "nothing"
    assert govern("check", "--finding", finding, "--bundle", bundle, "--landing", "absent", lake=lake)[0] == 1
    code, out, _ = govern("check", "--round", HASH_ROUND, "--bundle", bundle, "--json", lake=lake)
    assert (code, json.loads(out)["status"]) == (1, "block")
    assert govern("check", "--round", "other", "--bundle", bundle, lake=lake)[0] == 2
    assert govern("check", "--finding", "0" * 64, "--bundle", bundle, lake=lake)[0] == 2
    bundle.write_bytes(bundle.read_bytes()[:-200])
    code, out, err = govern("check", "--finding", finding, "--bundle", bundle, lake=lake)
    assert (code, out) == (3, "")
    assert "archive" in err
