"""`govern features graph` at its edges: refusals say nothing on stdout, hostile ids reach no terminal."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.cli.main import run

INPUT = {
    "schema": "govern/graph-input/v1",
    "nodes": [{"id": "a", "kind": "file"}],
    "edges": [],
    "changes": [{"step": 1, "nodes": [{"id": "a"}]}],
}


@pytest.fixture
def asked(tmp_path, capsys):
    """Give a function that runs the command on a document and returns exit code, stdout and stderr."""

    def _asked(document, *options):
        file = tmp_path / "input.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        code = run(["features", "graph", str(file), *options])
        return (code, *capsys.readouterr())

    return _asked


@pytest.mark.parametrize(
    "document",
    [{**INPUT, "surplus": 1}, {**INPUT, "nodes": None}, {**INPUT, "schema": "other"}, "", "[", '{"a": 1, "a": 2}'],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_refused_input_is_exit_two_with_nothing_on_stdout(asked, document, options):
    code, out, err = asked(document, *options)
    assert (code, out) == (2, "")
    assert "refused" in err or "no strict JSON" in err


def test_a_file_that_is_not_there_is_exit_two(tmp_path, capsys):
    assert run(["features", "graph", str(tmp_path / "none.json"), "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_the_page_says_what_is_unknown_in_words(asked):
    code, out, _ = asked(INPUT)
    assert code == 0
    assert "step 1: D unknown: no objective set is declared" in out
    assert "step 1: Y unknown: whether a symbol changed is not known" in out


def test_hostile_ids_are_escaped_on_the_page_and_in_the_document(asked):
    hostile = {**INPUT, "changes": [{"step": 1, "nodes": [{"id": f"\x1b[2J\u202e[red]{n}"} for n in range(8)]}]}
    for options in ((), ("--json",)):
        code, out, _ = asked(hostile, *options)
        assert code == 0
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert "and 2 more" in " ".join(asked(hostile)[1].split())
