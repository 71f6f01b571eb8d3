"""The graph of a repository: hostile trees and files are gaps that are counted, never edges or errors."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from governance_pipeline.errors import UnreadableError
from governance_pipeline.trajectory.providers import LANGUAGES, language_of
from governance_pipeline.trajectory.repository_files import RepositoryFiles
from governance_pipeline.trajectory.source_facts import facts_of
from governance_pipeline.trajectory.symbol_parts import symbol_parts
from governance_pipeline.trajectory.syntax import SOURCE_BYTES, SourceGap
from governance_pipeline.trajectory.typed_graph import NodeKind


def test_a_folder_that_is_no_repository_is_refused(tmp_path):
    with pytest.raises(UnreadableError, match="no git repository"):
        RepositoryFiles(tmp_path)


@pytest.mark.parametrize("name", ["gone", "--all", ":/m", "main@{yesterday}", "HEAD^{/m}", "", "a" * 300])
def test_a_name_that_is_no_commit_or_asks_for_a_search_names_none(repository, name):
    repository.commit({"a.py": ""})
    assert RepositoryFiles(repository.path).commit(name) is None


def test_links_and_submodules_are_counted_and_no_nodes(graph_of, repository):
    commit = repository.commit({"a.py": "x = 1\n"})
    made = graph_of({"a.py": "x = 1\n", "link.py": "a.py"}, {"link.py": 0o120000})
    assert made.coverage["tree_gaps"] == {"symlink": 1}
    assert made.graph.ids == ("a.py",)
    assert commit


def test_a_file_too_large_or_binary_or_broken_is_a_node_and_a_gap(graph_of):
    made = graph_of({
        "large.py": b"x = 1\n" * (SOURCE_BYTES // 6 + 1),
        "binary.py": b"import os\0",
        "latin.py": "x = 'é'\n".encode("latin-1"),
        "broken.py": "def f(:\n  import a\n",
        "a.py": "",
        "notes.md": "# a",
    })  # fmt: skip
    python = made.coverage["languages"]["python"]
    assert python["gaps"] == {"binary": 2, "syntax_error": 1, "too_large": 1}
    assert (python["files"], python["read"], made.coverage["without_provider"]) == (5, 1, 1)
    assert {"large.py", "binary.py", "broken.py", "notes.md"} <= set(made.graph.ids)


def test_a_missing_blob_is_a_gap_of_its_file_only(repository, graph_of):
    files = {"a.py": "import b\n", "b.py": "x = 1\n", "lost.py": "import b\n# lost\n"}
    repository.commit(files)
    blob = str(repository.objects.create_blob(files["lost.py"].encode()))
    (repository.path / "objects" / blob[:2] / blob[2:]).unlink()
    opened = RepositoryFiles(repository.path)
    tree = opened.tree(opened.commit("main"))
    assert opened.bytes_of(tree.files["lost.py"], 10).data is None
    assert opened.bytes_of(tree.files["a.py"], 100).data == b"import b\n"


def test_a_parse_that_would_take_minutes_is_given_up():
    facts = facts_of(language_of("a.java"), b"a<" * 400_000)
    assert facts.gap == SourceGap.TOO_SLOW
    assert not facts.definitions


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("text", [b"(" * 3_000, b"class A {" * 1_000, b"a." * 5_000])
def test_deep_nesting_never_reaches_the_stack(language, text):
    assert facts_of(language, text).language == language.name
    symbol_parts(language, text)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(alphabet="abA_. (){}[]<>\"'`\n:;,=*&#/@!?import from class def fn use mod func", max_size=300))
def test_any_text_gives_facts_that_name_only_its_own_definitions(language, text):
    facts = facts_of(language, text.encode())
    names = {one.name for one in facts.definitions}
    assert len(facts.uses) == len(facts.times)
    assert all(one.kind in ("function", "class", "method") for one in facts.definitions)
    assert all(name for name in names)
    assert facts_of(language, text.encode()) == facts


def test_files_modules_and_symbols_are_nodes_of_their_kind(graph_of):
    made = graph_of({
        "go.mod": "module x.org/y\n",
        "a/a.go": "package a\n\nfunc F() {}\n",
        "main.go": 'package main\n\nimport "x.org/y/a"\n\nfunc main() { a.F() }\n',
    })  # fmt: skip
    kinds = dict(zip(made.graph.ids, made.graph.kinds, strict=True))
    assert kinds["a/"] is NodeKind.MODULE
    assert kinds["a/a.go"] is NodeKind.FILE
    assert kinds["a/a.go::F"] is NodeKind.SYMBOL


def test_the_same_tree_gives_the_same_graph(graph_of):
    files = {"a.py": "import b\nb.f()\n", "b.py": "def f(): pass\n", "c.ts": "import './d'\n", "d.ts": ""}
    one, other = graph_of(files), graph_of(dict(reversed(files.items())))
    assert (one.tree, one.graph.ids, one.coverage) == (other.tree, other.graph.ids, other.coverage)
    assert one.graph.source.tolist() == other.graph.source.tolist()


def test_coverage_counts_every_use_once_by_outcome(graph_of):
    made = graph_of(
        {"a.py": "import os, b, b.gone\nfrom b import f\nf()\nos.getcwd()\nx.y()\n", "b.py": "def f(): 1\n"}
    )
    edges = made.coverage["languages"]["python"]["edges"]
    assert edges["import"] == {"seen": 4, "resolved": 3, "external": 1, "unresolved": 0}
    assert edges["call"] == {"seen": 3, "resolved": 1, "external": 1, "unresolved": 1}
    for counts in edges.values():
        assert counts["seen"] == counts["resolved"] + counts["external"] + counts["unresolved"]
