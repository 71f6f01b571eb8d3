"""The policies that ship with the package, each held to its digest in the manifest.

What belongs here: reading `policy/manifest.json` and the files it names. What does not: what a policy says
(`crosscheck.policy`, `crosscheck.policies`). A file that is not the one that was shipped is refused: a policy is
tightened by a copy, never by editing the installed one.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from governance_pipeline.errors import PolicyError
from governance_pipeline.strict.canonical import sha256_hex
from governance_pipeline.strict.yaml_text import parse_yaml

MANIFEST: Final = "manifest.json"


class ShippedPolicy(NamedTuple):
    """One file of the manifest: its name, the schema it says it keeps, and the SHA-256 of its bytes."""

    file: str
    schema: str
    sha256: str


@cache
def manifest() -> tuple[ShippedPolicy, ...]:
    """Give the shipped policies in the order they are printed (read once per process)."""
    document = json.loads(_file(MANIFEST))
    return tuple(ShippedPolicy(**entry) for entry in document["policies"])


@cache
def shipped_document(file: str) -> dict[str, Any]:
    """Read a shipped policy (once per process); numbers are read as YAML 1.2 writes them, texts stay texts.

    Raises:
        PolicyError: its bytes are not those of the manifest, or it is of another schema.
    """
    [entry] = [policy for policy in manifest() if policy.file == file]
    data = _file(file)
    if sha256_hex(data) != entry.sha256:
        raise PolicyError(f"the shipped policy {file} was changed; install the package anew, and tighten a copy of it")
    document: dict[str, Any] = parse_yaml(data)
    if document["schema"] != entry.schema:
        raise PolicyError(f"the shipped policy {file} has schema {document['schema']!r}, the manifest {entry.schema!r}")
    return document


def _file(name: str) -> bytes:
    return (resources.files("governance_pipeline.crosscheck") / "policy" / name).read_bytes()
