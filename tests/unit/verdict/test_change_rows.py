"""What the changes of a round come to: what came back, moved or was never there before is not gone."""

import pytest

from governance_pipeline.verdict.change_skips import change_skips
from governance_pipeline.verdict.controls import CONTROL_ROUND, control_tables, control_view
from governance_pipeline.verdict.detectors import detector_of
from governance_pipeline.verdict.policy_document import shipped_policy
from governance_pipeline.verdict.round_view import RoundView, RowsByRound

TEST = {"file_path": "tests/test_a.py", "subject": "test_a"}
REMOVED = {**TEST, "kind": "test_removed", "removed_assertions": '["0000000001","0000000002"]'}
SKIPPED = {**TEST, "kind": "test_disabled", "text_after": "pytest.mark.skip"}
LESS = {**TEST, "kind": "assertions_changed", "removed_assertions": '["0000000001"]', "text_before": "x"}


def found(code, facts, steps=(), rounds=({},)):
    rows = [{"step_index": at, **fact} for at, fact in enumerate(facts, 1)]
    tables = {"core_rounds": list(rounds), "core_change_facts": rows, "core_steps": list(steps)}
    view = RoundView(RowsByRound(control_tables(tables)), CONTROL_ROUND, shipped_policy())
    return list(detector_of(code).detect(view))


def test_tests_of_one_file_are_one_finding_that_names_them_all():
    (hit,) = found("test-deleted", [REMOVED, {**REMOVED, "subject": "test_other_thing"}])
    assert hit.factors["tests"] == ["test_a", "test_other_thing"]
    assert hit.place.path == "logs/a.jsonl"


@pytest.mark.parametrize(
    "later",
    [
        {**TEST, "kind": "test_added"},  # came back
        {"file_path": "tests/test_b.py", "subject": "TestB.test_a", "kind": "test_added"},  # moved
        {"file_path": "b.py", "subject": "test_b", "kind": "test_added", "added_assertions": '["0000000001"]'},
        {"file_path": "b.py", "subject": "test_b", "kind": "assertions_changed", "added_assertions": '["0000000002"]'},
    ],
)
def test_a_test_that_is_carried_on_somewhere_is_not_deleted(later):
    assert found("test-deleted", [REMOVED, later]) == []
    assert len(found("test-deleted", [REMOVED])) == 1


def test_a_test_the_round_brought_itself_may_go_again_but_one_that_was_there_may_not():
    added = {**TEST, "kind": "test_added"}
    assert found("test-deleted", [added, REMOVED]) == []
    assert len(found("test-deleted", [REMOVED, added, REMOVED])) == 1


@pytest.mark.parametrize("code", ["test-deleted", "test-disabled", "assertion-removed"])
@pytest.mark.parametrize(
    "command", ["git checkout tests/test_a.py", "git stash", "sed -i 's/a/b/' tests/test_a.py", "cp /x tests/test_a.py",
                "cat > tests/test_a.py <<'EOF'", "python -c \"open('tests/test_a.py', 'w')\""],
)  # fmt: skip
def test_an_edit_that_a_command_may_have_undone_proves_nothing(code, command):
    fact = {"test-deleted": REMOVED, "test-disabled": SKIPPED, "assertion-removed": LESS}[code]
    assert len(found(code, [fact], [{"command": "pytest tests/test_a.py 2>&1 | tail -5"}])) == 1
    assert found(code, [fact], [{"command": command}]) == []
    assert len(found(code, [fact], [{"command": command, "run_id": "r2"}])) == 1, "another run, another copy"


def test_a_deleted_test_is_not_also_weaker():
    assert found("assertion-removed", [LESS, REMOVED]) == []


def test_assertions_are_counted_over_the_round():
    again = {**LESS, "removed_assertions": '["0000000002"]'}
    (hit,) = found("assertion-removed", [LESS, again])
    assert hit.factors["assertions"] == 2
    moved = {**TEST, "subject": "test_b", "kind": "assertions_changed", "added_assertions": '["0000000002"]'}
    assert found("assertion-removed", [LESS, again, moved])[0].factors["assertions"] == 1


def test_the_same_assertion_twice_is_two():
    twice = {**LESS, "removed_assertions": '["0000000001","0000000001"]'}
    once = {**TEST, "subject": "test_b", "kind": "test_added", "added_assertions": '["0000000001"]'}
    both = {**once, "added_assertions": '["0000000001","0000000001"]'}
    assert len(found("assertion-removed", [twice, once])) == 1
    assert found("assertion-removed", [twice, both]) == []


def test_a_file_is_judged_by_its_last_state():
    broken = {"kind": "parse_failed", "subject": "file", "text_after": "line 1: x"}
    whole = {"kind": "parsed", "subject": "file"}
    part = {"kind": "unjudged", "subject": "parsing", "text_after": "only_part_shown"}
    assert len(found("parse-failure", [whole, broken])) == 1
    assert found("parse-failure", [broken, whole]) == found("parse-failure", [broken, part]) == []


def test_public_is_what_the_contract_says_and_nothing_without_it():
    narrowed = {"file_path": "src/api/a.py", "subject": "f", "kind": "signature_narrowed", "text_before": "f(a, b)",
                "text_after": "f(a)"}  # fmt: skip
    public = [{"scope_public": '["src/api/**"]'}]
    assert len(found("public-signature-narrowed", [narrowed], rounds=public)) == 1
    assert found("public-signature-narrowed", [narrowed]) == []
    view = control_view({"core_change_facts": [narrowed]})
    assert {"id": "changes:public-signatures", "required": False, "reason": "no_public"} in list(change_skips(view))


def test_a_name_of_a_go_package_that_moves_to_another_file_of_it_is_still_there():
    gone = {"file_path": "src/api/a.go", "subject": "F", "kind": "signature_removed", "text_before": "F(a: int)"}
    came = {**gone, "file_path": "src/api/b.go", "kind": "signature_added", "text_before": None, "text_after": "F()"}
    public = [{"scope_public": '["src/**"]'}]
    code = "public-signature-narrowed"
    assert found(code, [gone, came], rounds=public) == found(code, [came, gone], rounds=public) == []
    again = {**came, "kind": "signature_removed", "text_before": "F()", "text_after": None}
    assert len(found(code, [gone, came, again], rounds=public)) == 1
    other = {**came, "file_path": "src/other/b.go"}
    assert len(found(code, [gone, other], rounds=public)) == 1, "another folder is another package"
    rust = [{**fact, "file_path": fact["file_path"].replace(".go", ".rs")} for fact in (gone, came)]
    assert len(found(code, rust, rounds=public)) == 1, "in Rust another file is another module"


def test_what_stayed_open_is_listed_once_and_events_leave_nothing_open_where_a_log_shows_the_work():
    part = {"kind": "unjudged", "subject": "tests", "text_after": "only_part_shown"}
    native = {**part, "origin": "native", "text_after": "no_content"}
    view = control_view({"core_change_facts": [part, {**part, "step_index": 2}, {**native, "step_index": 3}]})
    assert [entry["reason"] for entry in change_skips(view)] == ["only_part_shown"]
    assert [entry["reason"] for entry in change_skips(control_view({"core_change_facts": [native]}))] == ["no_content"]


def test_a_write_of_a_canonical_asset_blocks_only_where_assets_are_listed():
    written = {"core_file_changes": [{"file_path": "./data/master/a.csv"}]}
    listed = control_view({"core_rounds": [{"scope_canonical": '["data/master/"]'}], **written})
    (hit,) = detector_of("canonical-write-unapproved").detect(listed)
    assert hit.subject == ("data/master/a.csv",)
    assert list(detector_of("canonical-write-unapproved").detect(control_view(written))) == []
    assert [entry["reason"] for entry in change_skips(control_view(written))] == ["no_registry"]
    assert shipped_policy().severity["canonical-write-unapproved"] == "blocking"


def test_a_graph_is_needed_only_where_the_contract_names_a_repository():
    steps = {"features_graph_surface": [{"graph_nodes_count": None}]}
    named = control_view({"core_rounds": [{"repo_path": "../repo"}], **steps})
    (hit,) = detector_of("partial-impact-graph").detect(named)
    assert (hit.required, hit.reason, hit.factors["steps_without_graph"]) == (True, "partial_graph", 1)
    assert list(detector_of("partial-impact-graph").detect(control_view(steps))) == []


@pytest.mark.parametrize(
    ("changed", "is_due"),
    [
        ({"module_rule": "dir:3"}, True),
        ({"modules": '[["a",["a/**"]]]'}, True),
        ({"scope_public": '["src/api/**"]'}, True),
        ({"module_rule": "dir:3", "baseline_version": "2"}, False),  # declared
        ({"module_rule": "dir:3", "cohort": "other"}, False),  # never compared
        ({"module_rule": "dir:3", "baseline_version": None}, False),
        ({"module_rule": "dir:3", "parent_round_id": None}, False),
        ({"module_rule": "dir:3", "contract_state": "invalid"}, False),
        ({}, False),
    ],
)
def test_another_measure_under_the_same_baseline_is_stale(changed, is_due):
    parent = {"round_id": "control-0", "cohort": "c", "baseline_version": "1", "module_rule": "dir:2"}
    child = {**parent, "round_id": CONTROL_ROUND, "parent_round_id": "control-0", **changed}
    hits = list(detector_of("rebaseline-due").detect(control_view({"core_rounds": [parent, child]})))
    assert [hit.reason for hit in hits] == ["stale"] * is_due
    alone = control_view({"core_rounds": [child]})
    assert list(detector_of("rebaseline-due").detect(alone)) == [], "a parent that is not at hand says nothing"


@pytest.mark.parametrize(
    ("path", "public", "is_left_out"),
    [
        ("src/api/a.kt", '["src/api/**"]', True),
        ("./src/api/a.cpp", '["src/api/**"]', True),
        ("src/api/a.py", '["src/api/**"]', False),  # it is read
        ("src/api/a.go", '["src/api/**"]', False),
        ("src/api/a.md", '["src/api/**"]', False),  # it has no public names
        ("src/inner/a.kt", '["src/api/**"]', False),
        ("src/api/a.kt", "[]", False),
    ],
)
def test_a_public_file_in_a_language_nobody_reads_is_listed_as_left_out(path, public, is_left_out):
    view = control_view({"core_rounds": [{"scope_public": public}], "core_file_changes": [{"file_path": path}]})
    wanted = {"id": "changes:public-signatures", "required": False, "reason": "language_not_read"}
    assert (wanted in list(change_skips(view))) is is_left_out
