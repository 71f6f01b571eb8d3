"""A command is harmless only when every program of it is known to read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance_pipeline.ingest.formats.shell import LONGEST_READ, may_change_files

WRITES = [
    None,
    "python fix.py",
    "cat a > b",
    "echo x >> log",
    "cat a >| b",
    "ls &> out",
    "tail f >& out",
    "ls; rm x",
    "ls\nrm x",
    "ls && touch y",
    "cat $(make)",
    "cat `make`",
    "cat <(make)",
    "cat <<EOF > x\nEOF",
    "find . -name '*.pyc' -delete",
    "find . -exec rm {} +",
    "find . -fprintf out %p",
    "sed -i s/a/b/ f",
    "sed -n 'w out' f",
    "sed -n 1p -i f",
    "git checkout .",
    "git diff --output=p",
    "git",
    "git grep -Otouch\\ x foo",
    "git grep -O foo",
    "git grep -nO'touch x' foo",
    "git grep --open-files-in-pager='touch x' foo",
    "git grep --open=less foo",
    "git show --textconv HEAD:a",
    "git diff --textc",
    "git diff --ext-d",
    "git log -p --outp=x",
    "date --set 2020-01-01",
    "sort -o x y",
    "tee x",
    "A=1 ls",
    "/tmp/cat x",
    "(ls)",
    "if true; then rm x; fi",
    "echo 'open quote",
    "ls \\",
    "xargs rm",
    "env rm x",
    "cat a | xargs rm",
    "ls" * LONGEST_READ,
]
READS = [
    "",
    "  \n",
    "ls -la",
    "cd /x && git log --oneline -5",
    "cat a | grep -n 'def f' | head -5",
    "ls 2>/dev/null",
    "ls > /dev/null 2>&1",
    "find . -type f -name '*.py'",
    "sed -n '10,20p' a.py",
    "git status",
    "git diff HEAD~1 -- a.py",
    "git show --no-textconv --no-ext-diff HEAD",
    "git log --oneline --all -SOld",
    "git ls-files --others --exclude-standard",
    "git grep -n -e Option -- '*.py'",
    "echo done; pwd",
    "echo '$HOME'",
    "cat a\ncat b",
]


@pytest.mark.parametrize("command", WRITES)
def test_a_command_that_may_write_counts_as_one_that_does(command):
    assert may_change_files(command)


@pytest.mark.parametrize("command", READS)
def test_a_command_of_readers_only_changes_no_file(command):
    assert not may_change_files(command)


@given(command=st.text(max_size=80), tail=st.sampled_from(["rm x", "> x", ">>x", "$(y)", "`y`"]))
def test_nothing_before_a_write_hides_it(command, tail):
    assert may_change_files(f"{command}\n{tail}")
