"""Kept graphs: what is damaged or made by other code is made again, what is whole comes back as it was."""

from __future__ import annotations

import pytest

from governance_pipeline.storage.atomic import AtomicWriter
from governance_pipeline.trajectory import graph_cache
from governance_pipeline.trajectory.graph_cache import FOLDER, GraphCache
from governance_pipeline.trajectory.repositories import OpenRepository

FILES = {"a.py": "import b\nb.f()\n", "b.py": "def f(): pass\n", "c.md": ""}


@pytest.fixture
def cache(tmp_path) -> GraphCache:
    return GraphCache(tmp_path / "lake", AtomicWriter(tmp_path / "lake"))


def kept(tmp_path) -> list:
    return sorted((tmp_path / "lake" / FOLDER).rglob("*.z"))


def test_nothing_is_kept_of_a_tree_nobody_asked_for(cache):
    assert cache.get("f" * 40) is None


@pytest.mark.parametrize("damage", [b"", b"\n", b"x" * 100])
def test_a_damaged_file_is_not_used_and_the_graph_is_made_again(cache, graph_of, tmp_path, damage):
    made = graph_of(FILES)
    cache.put(made)
    [file] = kept(tmp_path)
    file.write_bytes(damage or file.read_bytes()[:-1])
    assert cache.get(made.tree) is None
    cache.put(made)
    assert cache.get(made.tree).graph.ids == made.graph.ids


def test_a_graph_comes_back_as_it_was(cache, graph_of):
    made = graph_of(FILES)
    cache.put(made)
    back = cache.get(made.tree)
    assert (back.graph.ids, back.graph.kinds, back.coverage) == (made.graph.ids, made.graph.kinds, made.coverage)
    assert back.graph.source.tolist() == made.graph.source.tolist()
    assert back.graph.edges_of_type == made.graph.edges_of_type


def test_other_code_has_other_files(cache, graph_of, monkeypatch):
    made = graph_of(FILES)
    cache.put(made)
    monkeypatch.setattr(graph_cache, "provider_digest", lambda: "0" * 64)
    assert cache.get(made.tree) is None


def test_a_graph_is_made_once_per_tree_whatever_the_commit(cache, repository, tmp_path):
    repository.commit(FILES)
    repository.commit({**FILES, "d.py": ""})
    repository.commit(FILES)
    opened = OpenRepository(repository.path, cache)
    for revision in ("main", "main~1", "main~2"):
        opened.graph(opened.files.commit(revision))
    assert len(kept(tmp_path)) == 2
