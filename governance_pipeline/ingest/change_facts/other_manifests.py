"""Dependencies declared in `package.json`, `go.mod`, `Cargo.toml`, `pom.xml` and Gradle files.

What belongs here: reading them as data, none is run. What does not: lock files, which follow from them. An indirect
requirement of `go.mod` follows from another module too and is left out.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from governance_pipeline.errors import RecordRefused
from governance_pipeline.ingest.change_facts.dependency import Dependencies, Dependency, add_dependency
from governance_pipeline.ingest.change_facts.python_manifests import UnreadableManifestError
from governance_pipeline.strict.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE_LISTS: Final = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_EXACT: Final = re.compile(r"[v=]?\s*\d+\.\d+\.\d+(?:[-+][\w.+-]+)?", re.ASCII)
_COMMIT: Final = re.compile(r"#(?:semver:)?[0-9a-f]{7,64}$", re.ASCII)
_ELSEWHERE: Final = ("workspace:", "file:", "link:", "catalog:", "portal:")
_GO: Final = re.compile(r"^\s*(?:require\s+)?([\w.~-]+\.[\w./~-]+)\s+(v\S+)\s*(//\s*indirect)?", re.ASCII)
_GO_BLOCK: Final = re.compile(r"^\s*(require|replace|exclude|retract)\s*\(", re.ASCII)
_CARGO_LISTS: Final = ("dependencies", "dev-dependencies", "build-dependencies")
_CARGO_EXACT: Final = re.compile(r"=\s*\d+\.\d+\.\d+(?:[-+][\w.+-]+)?", re.ASCII)
_GRADLE: Final = re.compile(
    r"^\s*(?:\w*[iI]mplementation|api|\w*[cC]ompileOnly|\w*[rR]untimeOnly|compile|testCompile|annotationProcessor|kapt|ksp)"
    r"\s*\(?\s*[\"']([\w.-]+):([\w.-]+)(?::([^\"':@]+))?",
    re.ASCII,
)
_FLOATING: Final = re.compile(r"\+|latest|^[\[(]|SNAPSHOT|^LATEST$|^RELEASE$")


def read_package_json(text: str) -> Dependencies:
    """Read `package.json`.

    Raises:
        UnreadableManifestError: it is no JSON object.
    """
    try:
        document = parse_json(text.encode())
    except (RecordRefused, UnicodeEncodeError) as error:
        raise UnreadableManifestError(str(error)) from None
    found: Dependencies = {}
    lists = [document.get(name) for name in _PACKAGE_LISTS] if isinstance(document, dict) else []
    for name, wanted in (entry for listed in lists if isinstance(listed, dict) for entry in listed.items()):
        if isinstance(wanted, str):
            is_exact = bool(_EXACT.fullmatch(wanted.strip()) or _COMMIT.search(wanted))
            pinned = None if wanted.startswith(_ELSEWHERE) else is_exact
            add_dependency(found, f"npm:{name}", Dependency(wanted, pinned))
    return found


def read_go_mod(text: str) -> Dependencies:
    """Read the direct requirements of `go.mod`; each names one version."""
    found: Dependencies = {}
    block = ""
    for number, line in enumerate(text.split("\n"), 1):
        opened = _GO_BLOCK.match(line)
        if opened:
            block = opened[1]
        elif line.strip() == ")":
            block = ""
        elif block == "require" or (not block and line.lstrip().startswith("require ")):
            match = _GO.match(line)
            if match and not match[3]:
                add_dependency(found, f"go:{match[1]}", Dependency(match[2], True, number))
    return found


def read_cargo(text: str) -> Dependencies:
    """Read `Cargo.toml`, the tables of single targets and of a workspace included.

    Raises:
        UnreadableManifestError: it is no TOML.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableManifestError(str(error)) from None
    tables = [document, *(_members(document.get("target")))]
    lists = [table.get(name) for table in tables if isinstance(table, dict) for name in _CARGO_LISTS]
    workspace = document.get("workspace")
    lists.append(workspace.get("dependencies") if isinstance(workspace, dict) else None)
    found: Dependencies = {}
    for name, given in (entry for listed in lists if isinstance(listed, dict) for entry in listed.items()):
        wanted = given if isinstance(given, dict) else {"version": given}
        written, pinned = _cargo_version(wanted)
        add_dependency(found, f"cargo:{wanted.get('package', name)}", Dependency(written, pinned))
    return found


def _cargo_version(wanted: dict[str, Any]) -> tuple[str, bool | None]:
    if wanted.get("workspace") is True:
        return "workspace", None
    if "path" in wanted and "version" not in wanted:
        return f"path {wanted['path']}", None
    if "git" in wanted:
        return f"git {wanted['git']} {wanted.get('rev', '')}".strip(), "rev" in wanted
    version = str(wanted.get("version", "any"))
    return version, _CARGO_EXACT.fullmatch(version.strip()) is not None


def read_pom(text: str) -> Dependencies:
    """Read `pom.xml`; a version that is a property elsewhere is not known to be one version.

    Raises:
        UnreadableManifestError: it is no XML, or declares a document type, which could blow up.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UnreadableManifestError("it declares a document type")
    try:
        root = ET.fromstring(text)  # noqa: S314 - see above
    except (ET.ParseError, ValueError) as error:
        raise UnreadableManifestError(str(error)) from None
    properties = {_tag(one): (one.text or "").strip() for table in _all(root, "properties") for one in table}
    found: Dependencies = {}
    for entry in _all(root, "dependency"):
        values = {_tag(one): (one.text or "").strip() for one in entry}
        written = re.sub(r"\$\{([^}]+)\}", lambda m: properties.get(m[1], m[0]), values.get("version", ""))
        pinned = None if not written or "${" in written else _FLOATING.search(written) is None
        name = f"maven:{values.get('groupId', '?')}:{values.get('artifactId', '?')}"
        add_dependency(found, name, Dependency(written or "managed", pinned))
    return found


def read_gradle(text: str) -> Dependencies:
    """Read the dependencies a Gradle file writes as texts; those it computes are not seen."""
    found: Dependencies = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _GRADLE.match(line)
        if match:
            version = match[3]
            pinned = None if version is None or "$" in version else _FLOATING.search(version) is None
            name = f"maven:{match[1]}:{match[2]}"
            add_dependency(found, name, Dependency(version or "managed", pinned, number))
    return found


def _members(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else []


def _all(root: ET.Element, name: str) -> Iterator[ET.Element]:
    return (one for one in root.iter() if _tag(one) == name)


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]
