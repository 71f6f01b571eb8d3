"""Repository graphs kept on disk, by what they were made from: derived data that can always be made again.

What belongs here: graph <-> bytes, and where they lie. What does not: making a graph (`repository_graph`). The name of
a file is the digest of provider version, code and tree id, so a graph made by other code is another file; its first
line is the digest of the rest, and what does not keep it is not used. Source: spec/trajectory.md §2.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from governance_pipeline.strict.canonical import canonical_json, sha256_hex
from governance_pipeline.trajectory.repository_graph import PROVIDER, RepositoryGraph
from governance_pipeline.trajectory.typed_graph import EdgeType, NodeKind, TypedGraph

if TYPE_CHECKING:
    from pathlib import Path

    from governance_pipeline.storage.atomic import AtomicWriter

FOLDER: Final = "derived/graphs"
MOST_BYTES: Final = 2**29
"""Largest graph that is read back, 512 MiB unpacked: a hundred times one of a million edges."""

CODE: Final = (
    "trajectory/graph_coverage.py",
    "trajectory/providers/__init__.py",
    "trajectory/providers/go.py",
    "trajectory/providers/java.py",
    "trajectory/providers/javascript.py",
    "trajectory/providers/language.py",
    "trajectory/providers/python.py",
    "trajectory/providers/rust.py",
    "trajectory/repository_files.py",
    "trajectory/repository_graph.py",
    "trajectory/repository_links.py",
    "trajectory/source_facts.py",
    "trajectory/syntax.py",
    "trajectory/typed_graph.py",
)
"""Files of this package that decide what a graph is."""

GRAMMARS: Final = (
    "tree-sitter", "tree-sitter-go", "tree-sitter-java", "tree-sitter-javascript", "tree-sitter-python",
    "tree-sitter-rust", "tree-sitter-typescript",
)  # fmt: skip
"""Packages whose version decides it too."""


class GraphCache:
    """Graphs below the root of a lake; `writer` is how files get there."""

    def __init__(self, root: Path, writer: AtomicWriter) -> None:
        self._root = root
        self._writer = writer

    def get(self, tree: str) -> RepositoryGraph | None:
        """Give the kept graph of a tree; None when there is none that can be used."""
        try:
            data = self._path(tree).read_bytes()
        except OSError:
            return None
        digest, _, packed = data.partition(b"\n")
        if hashlib.sha256(packed).hexdigest().encode() != digest:
            return None
        unpacker = zlib.decompressobj()
        try:
            text = unpacker.decompress(packed, MOST_BYTES)
            return None if unpacker.unconsumed_tail else _graph(json.loads(text))
        except (zlib.error, ValueError, KeyError, TypeError):
            return None

    def put(self, made: RepositoryGraph) -> None:
        """Keep a graph.

        Raises:
            StorageError: it cannot be written.
        """
        packed = zlib.compress(json.dumps(_document(made), ensure_ascii=False).encode(), 6)
        path = self._path(made.tree)
        with self._writer.locked(f"graphs-{path.parent.name}"):
            self._writer.write(path, hashlib.sha256(packed).hexdigest().encode() + b"\n" + packed)

    def _path(self, tree: str) -> Path:
        key = sha256_hex(canonical_json([provider_digest(), tree]))
        return self._root / FOLDER / key[:2] / f"{key}.json.z"


@cache
def provider_digest() -> str:
    """Digest of everything that decides what the graph of a tree is: version, code and grammars."""
    from importlib.metadata import version

    package = resources.files("governance_pipeline")
    code = [[name, sha256_hex(package.joinpath(name).read_bytes())] for name in CODE]
    return sha256_hex(canonical_json([PROVIDER, code, [[name, version(name)] for name in GRAMMARS]]))


def _document(made: RepositoryGraph) -> dict[str, Any]:
    graph = made.graph
    kinds = list(NodeKind)
    return {
        "tree": made.tree,
        "ids": list(graph.ids),
        "kinds": [kinds.index(kind) for kind in graph.kinds],
        "source": graph.source.tolist(),
        "target": graph.target.tolist(),
        "edges_of_type": {str(type_): number for type_, number in graph.edges_of_type.items()},
        "coverage": made.coverage,
        "duration_s": made.duration_s,
    }


def _graph(document: dict[str, Any]) -> RepositoryGraph:
    kinds = list(NodeKind)
    ids = tuple(document["ids"])
    graph = TypedGraph(
        ids=ids,
        number_of={id_: number for number, id_ in enumerate(ids)},
        kinds=tuple(kinds[number] for number in document["kinds"]),
        source=np.array(document["source"], dtype=np.int64),
        target=np.array(document["target"], dtype=np.int64),
        edges_of_type={EdgeType(name): number for name, number in document["edges_of_type"].items()},
    )
    return RepositoryGraph(document["tree"], graph, document["coverage"], document["duration_s"])
