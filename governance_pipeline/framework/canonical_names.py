"""One canonical file per shared asset: may a file of this name be written, and what must happen first.

What belongs here: the comparison of a name with the registry. What does not: the registry (`registry`) and archiving.
Names are compared to refuse, so what only looks the same counts as the same, as it does on file systems that do not
tell upper from lower case.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from governance_pipeline.errors import GovernError
from governance_pipeline.strict.excerpt import excerpt

if TYPE_CHECKING:
    from governance_pipeline.framework.registry import Asset, Registry


class CanonicalFault(StrEnum):
    """Why a file of this name may not be written as it is; the values never change their meaning."""

    REGISTERED = "canonical_name_registered"
    ARCHIVED = "archived_name_registered"
    NO_NAME = "no_name"
    UNREADABLE = "registry_unreadable"


class RequiredAction(StrEnum):
    """What must happen before the write."""

    NONE = "none"
    ARCHIVE = "archive_first"
    RENAME = "use_another_name"
    REPAIR = "repair_the_registry"


@dataclass(frozen=True, slots=True)
class CanonicalCheck:
    """Whether a file of a name may be written; `allowed` is `ok`, `asset` the registered name it collides with."""

    ok: bool
    reason_code: CanonicalFault | None
    message: str
    required_action: RequiredAction
    asset: str | None = None
    canonical_path: str | None = None

    @property
    def allowed(self) -> bool:
        """Whether the write may happen."""
        return self.ok


def enforce_single_canonical(asset_name: str, registry_path: str | Path) -> CanonicalCheck:
    """Tell whether a file may be written without making a second version of a registered asset.

    Args:
        asset_name: name of the asset, or name or path of the file; of a path its last part is compared, because a
            second file of the same name in another folder is the duplicate nobody notices.
        registry_path: `canonical_registry.json`.

    Returns:
        Not ok when the name is that of a registered asset, of its canonical file or of an archived version, in
        whatever spelling; and when the registry cannot be read, for then nobody knows.
    """
    from governance_pipeline.framework.registry import load_registry

    if not isinstance(asset_name, str) or not _folded(asset_name):
        said = "a write needs the name of its asset or the path of its file; name it"
        return CanonicalCheck(False, CanonicalFault.NO_NAME, said, RequiredAction.RENAME)
    try:
        registry = load_registry(Path(registry_path))
    except (GovernError, TypeError) as error:
        said = f"the registry cannot be read, so no write of {excerpt(asset_name, 80)} is safe: {error}"
        return CanonicalCheck(False, CanonicalFault.UNREADABLE, said, RequiredAction.REPAIR)
    return _checked(asset_name, registry)


def _checked(name: str, registry: Registry) -> CanonicalCheck:
    shown = excerpt(name, 80)
    for asset in registry.assets:
        if _collides(name, asset.name) or _collides(name, asset.canonical_path):
            said = (
                f"{shown} is registered as {asset.name} ({asset.canonical_path}): archive what is there with `govern "
                f"registry supersede {asset.name}`, which asks for an approval; nothing is overwritten in silence"
            )
            return _refused(CanonicalFault.REGISTERED, said, RequiredAction.ARCHIVE, asset)
        for version in asset.superseded_versions:
            if _collides(name, version.path):
                said = f"{shown} is an archived version of {asset.name}, which nobody overwrites; use another name"
                return _refused(CanonicalFault.ARCHIVED, said, RequiredAction.RENAME, asset)
    return CanonicalCheck(True, None, "", RequiredAction.NONE)


def _refused(code: CanonicalFault, said: str, action: RequiredAction, asset: Asset) -> CanonicalCheck:
    return CanonicalCheck(False, code, said, action, asset.name, asset.canonical_path)


def _collides(name: str, registered: str) -> bool:
    """Tell whether two names or paths end in the same name: the same file, or a second one that looks like it."""
    return _folded(name) == _folded(registered)


def _folded(name: str) -> str:
    """Give the last part of a name or path in the form names are compared in."""
    text = unicodedata.normalize("NFKC", name).casefold().replace("\\", "/").strip()
    return PurePosixPath(text).name if text else ""
