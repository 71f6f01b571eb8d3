"""A repository is read as git counts it, and runs nothing while it is read."""

from __future__ import annotations

import os

import pytest

from governance_pipeline.errors import UnreadableError, UsageError
from governance_pipeline.ingest.history import repository as history
from governance_pipeline.ingest.history.commits import FileDelta
from governance_pipeline.ingest.history.repository import read_commits


def lines_of(commit):
    """Files of a commit without what their contents show, which has tests of its own."""
    return tuple(file._replace(facts=None) for file in commit.files)


def test_what_is_no_repository_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is no git repository"):
        list(read_commits(tmp_path))


def test_a_folder_inside_a_repository_is_not_taken_for_it(repository):
    repository.commit(**{"src/a.py": "1\n"})
    with pytest.raises(UsageError, match="is no git repository"):
        list(read_commits(repository.folder / "src"))


@pytest.mark.parametrize("span", ["nothing", "nothing..HEAD", "HEAD..nothing", "HEAD:a.py", "@{", "..", "\x1b[31m"])
def test_a_revision_the_repository_does_not_have_is_refused(repository, span):
    repository.commit(**{"a.py": "1\n"})
    if span == "..":
        assert len(list(read_commits(repository.folder, span))) == 1, "no end means HEAD"
        return
    with pytest.raises(UsageError, match="names no commit") as refusal:
        list(read_commits(repository.folder, span))
    assert "\x1b" not in str(refusal.value)


def test_an_empty_repository_has_no_head(repository):
    with pytest.raises(UsageError, match="names no commit"):
        list(read_commits(repository.folder))


def test_a_missing_object_is_said_and_nothing_is_made_up(repository):
    repository.commit(**{"a.py": "1\n"})
    sha = repository.commit(**{"a.py": "2\n"})
    blob = repository.git("rev-parse", f"{sha}:a.py").strip()
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(UnreadableError, match="an object cannot be read"):
        list(read_commits(repository.folder))


def test_lines_are_counted_as_git_counts_them(repository):
    repository.commit(**{"a.py": "1\n2\n3\n", "b.bin": b"\0\1", "old.py": "".join(f"{n}\n" for n in range(20))})
    repository.git("mv", "old.py", "new.py")
    repository.write("b.bin", b"\0\2")
    repository.commit(**{"a.py": "1\n3\n4\n", "new.py": "".join(f"{n}\n" for n in range(1, 21))})
    first, second = read_commits(repository.folder)
    assert first.parents == ()
    assert lines_of(first) == (FileDelta("a.py", 3, 0), FileDelta("b.bin", None, None), FileDelta("old.py", 20, 0))
    assert lines_of(second) == (
        FileDelta("a.py", 1, 1),
        FileDelta("b.bin", None, None),
        FileDelta("new.py", 1, 1, "old.py"),
    )


@pytest.mark.parametrize("setting", ["false", "copies", "true"])
def test_renames_are_followed_and_copies_are_not_whatever_git_is_set_to(repository, setting):
    lines = "".join(f"{n}\n" for n in range(20))
    repository.commit(**{"old.py": lines, "kept.py": lines * 2})
    repository.git("mv", "old.py", "new.py")
    repository.commit(**{"copy.py": lines * 2})
    repository.git("config", "diff.renames", setting)
    *_, last = read_commits(repository.folder)
    assert lines_of(last) == (FileDelta("copy.py", 40, 0), FileDelta("new.py", 0, 0, "old.py"))


def test_where_too_many_files_moved_to_compare_nobody_knows_their_lines(repository, monkeypatch):
    monkeypatch.setattr(history, "MOST_MOVED", 1)
    repository.commit(**{"a.py": "1\n", "b.py": "1\n2\n", "c.py": "1\n"})
    repository.git("mv", "a.py", "d.py")
    repository.git("mv", "b.py", "e.py")
    repository.commit(**{"c.py": "2\n"})
    *_, last = read_commits(repository.folder)
    moved = [FileDelta(path, None, None) for path in ("a.py", "b.py", "d.py", "e.py")]
    assert lines_of(last) == (*moved[:2], FileDelta("c.py", 1, 1), *moved[2:])


def _commit_with(repository, old, new):
    """Write the last commit again with other bytes, as no git command would."""
    data = repository.git("cat-file", "commit", "HEAD").encode().replace(old, new, 1)
    (repository.folder / "raw").write_bytes(data)
    sha = repository.git("hash-object", "-t", "commit", "-w", "--literally", "raw").strip()
    (repository.folder / "raw").unlink()
    repository.git("update-ref", "refs/heads/main", sha)


def test_a_commit_in_an_encoding_nobody_knows_is_read_as_bytes(repository):
    repository.commit(**{"a.py": "1\n"})
    _commit_with(repository, b"\n\n", b"\nencoding bogus\n\n\xff ")
    [found] = read_commits(repository.folder)
    assert found.author == "ana@example.org"


def test_a_commit_at_no_time_is_said(repository):
    repository.commit(**{"a.py": "1\n"})
    _commit_with(repository, b"> 1767222000 ", b"> 99999999999999 ")
    with pytest.raises(UnreadableError, match="which is no time"):
        list(read_commits(repository.folder))


def test_a_merge_is_what_it_brought_to_its_first_parent(repository):
    repository.commit(**{"a.py": "1\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit(**{"b.py": "1\n"})
    repository.commit(**{"b.py": "1\n2\n"})
    repository.git("checkout", "-q", "main")
    main = repository.commit(**{"a.py": "2\n"})
    repository.merge("side", "Merge pull request #17 from side")
    *_, last = commits = list(read_commits(repository.folder))
    assert len(commits) == 3, "commits of the side branch are inside the merge"
    assert last.parents[0] == main
    assert lines_of(last) == (FileDelta("b.py", 2, 0),)
    assert last.pull_request == 17


def test_a_range_leaves_out_what_its_start_has(repository):
    shas = [repository.commit(**{"a.py": f"{n}\n"}) for n in range(4)]
    assert [c.sha for c in read_commits(repository.folder, f"{shas[0]}..{shas[2]}")] == shas[1:3]
    assert [c.sha for c in read_commits(repository.folder, shas[1])] == shas[:2]


def test_agents_are_named_by_trailers_and_the_author_by_address(repository):
    message = "work\n\nCo-authored-by: Claude Opus <noreply@anthropic.com>\nco-authored-by: Ben <ben@example.org>"
    repository.commit(message, **{"a.py": "1\n"})
    [found] = read_commits(repository.folder)
    assert (found.author, found.agents, found.actor) == ("ana@example.org", ("claude",), "claude")
    assert found.actors == ("claude", "ana@example.org", "ben@example.org")
    assert found.ts == "2026-01-01T01:00:00+02:00"


def test_tags_of_commits_are_known_light_and_annotated(repository):
    repository.commit(**{"a.py": "1\n"})
    repository.git("tag", "v1")
    repository.git("tag", "-a", "v1.0", "-m", "first")
    repository.git("tag", "of-a-tree", "HEAD^{tree}")
    [found] = read_commits(repository.folder)
    assert found.tags == ("v1", "v1.0")


def test_a_path_that_is_no_text_stays_visible(repository):
    repository.commit(x="1\n")
    repository.write(os.fsdecode(b"a/\xff.py"), "1\n")
    repository.commit()
    *_, last = read_commits(repository.folder)
    assert lines_of(last) == (FileDelta("a/\\xff.py", 1, 0),)


@pytest.mark.parametrize(
    "setting", ["diff.external", "core.fsmonitor", "diff.evil.textconv", "core.sshCommand", "gpg.program", "core.pager"]
)
def test_no_program_the_repository_names_is_run(repository, tmp_path, setting):
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    repository.commit(**{"a.py": "1\n", ".gitattributes": "*.py diff=evil\n"})
    repository.commit(**{"a.py": "2\n"})
    repository.git("config", setting, str(trap))
    assert len(list(read_commits(repository.folder))) == 2
    assert not (tmp_path / "sprung").exists()
