"""Is the right software installed: what this package asks for, and what signs.

What belongs here: versions that are installed against those that are declared. What does not: importing any of them.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from governance_pipeline.doctor.finding import Finding, Health

if TYPE_CHECKING:
    from collections.abc import Iterator

    from governance_pipeline.doctor.finding import Patient

PACKAGE: Final = "governance-pipeline"
_NAMED: Final = ("dagster", "duckdb", "pandas", "pandera")


def versions_fit(patient: Patient) -> Iterator[Finding]:  # noqa: ARG001 - as every check
    """Hold what is installed to what the package declares."""
    own = metadata.metadata(PACKAGE)
    python = ".".join(map(str, sys.version_info[:3]))
    asked = SpecifierSet(own["Requires-Python"] or "")
    if python not in asked:
        yield Finding("versions", Health.FAIL, "python", f"{python} is installed, {asked} is asked for", "make demo")
    wrong = [fault for text in metadata.requires(PACKAGE) or () if (fault := _fault(Requirement(text))) is not None]
    for name, message in wrong:
        yield Finding("versions", Health.FAIL, name, message, "install requirements.lock: make demo")
    if not wrong:
        named = ", ".join(f"{name} {metadata.version(name)}" for name in _NAMED)
        said = f"{PACKAGE} {own['Version']}, Python {python}, {named}, SQLite {sqlite3.sqlite_version}"
        yield Finding("versions", Health.OK, PACKAGE, said)
    if shutil.which("ssh-keygen") is None:
        message = "ssh-keygen is not there: nobody can sign with a key of OpenSSH, only with key files and passkeys"
        yield Finding("versions", Health.WARN, "openssh", message, "install the OpenSSH client")


def _fault(wanted: Requirement) -> tuple[str, str] | None:
    if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
        return None
    try:
        found = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return wanted.name, f"it is not installed, {wanted.specifier} is asked for"
    if not wanted.specifier.contains(found, prereleases=True):
        return wanted.name, f"{found} is installed, {wanted.specifier} is asked for"
    return None
