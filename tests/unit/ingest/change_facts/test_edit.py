"""What a log shows of a file over the steps of one run."""

from governance_pipeline.ingest.change_facts.edit import Contents, all_swapped, inserted, removed, swapped, written

PATH = "/repo/tests/test_a.py"
TEST = "def test_a():\n    assert x == 1\n    assert y\n"


def kinds(facts):
    return [(str(fact.kind), fact.subject) for fact in facts]


def test_a_file_the_run_wrote_is_known_whole_in_its_later_edits():
    contents = Contents()
    assert ("test_added", "test_a") in kinds(contents.facts(PATH, written(TEST, is_created=True)))
    (parsed, changed) = contents.facts(PATH, swapped("    assert y\n", ""))
    assert (parsed.kind, changed.kind, len(changed.removed)) == ("parsed", "assertions_changed", 1)
    assert ("parse_failed", "file") in kinds(contents.facts(PATH, swapped("def test_a():", "def test_a(:")))


def test_a_content_is_forgotten_where_something_else_may_have_written():
    for end in (lambda c: c.ran("sed -i s/a/b/ tests/test_a.py"), lambda c: c.ran(None), lambda c: c.facts(PATH, None)):
        contents = Contents()
        contents.facts(PATH, written(TEST, is_created=True))
        end(contents)
        assert ("unjudged", "parsing") in kinds(contents.facts(PATH, swapped("    assert y\n", "")))


def test_an_edit_whose_old_text_is_not_there_or_there_twice_is_judged_as_a_part():
    for old in ("    assert z\n", "assert"):
        contents = Contents()
        contents.facts(PATH, written(TEST, is_created=True))
        assert ("unjudged", "parsing") in kinds(contents.facts(PATH, swapped(old, "")))


def test_what_was_overwritten_unseen_is_not_judged_but_parsed():
    assert kinds(Contents().facts(PATH, written(TEST))) == [("parsed", "file"), ("unjudged", "tests")]
    assert ("unjudged", "tests") in kinds(Contents().facts(PATH, None))


def test_a_deleted_test_file_is_gone_even_unseen_and_a_helper_is_not():
    assert kinds(Contents().facts(PATH, removed())) == [("test_removed", "(whole file)")]
    assert ("test_removed", "(whole file)") not in kinds(Contents().facts("/repo/tests/helpers.py", removed()))
    contents = Contents()
    contents.facts(PATH, written(TEST, is_created=True))
    assert kinds(contents.facts(PATH, removed())) == [("test_removed", "test_a")]


def test_insertions_and_several_replacements_are_parts():
    assert ("test_disabled", "(what follows)") in kinds(Contents().facts(PATH, inserted("@pytest.mark.skip")))
    found = Contents().facts(PATH, all_swapped([("    assert a\n", ""), ("    assert b\n", "")]))
    assert sum(len(fact.removed) for fact in found) == 2
